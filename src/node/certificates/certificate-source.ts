import type { Problem } from '../../base/problem.ts';

/** A serving certificate with its key, both PEM. */
export interface ServingCertificate {
  /** The certificate that clients see, first of its chain. */
  readonly cert: string;
  /** The key of the certificate, without a passphrase. */
  readonly key: string;
}

/**
 * Where a server's certificate comes from. The server reads it when it begins to listen, then from time to time, and when the source
 * says that it has another one.
 */
export interface CertificateSource {
  /** Rejects while there is none, saying why. */
  read(): Promise<ServingCertificate>;
  /** Calls `listener` whenever `read` has another answer. What it returns ends that. Default: nobody is told. */
  onChange?(listener: () => void): () => void;
  /** Asks nobody any more, and leaves no timer. */
  stop?(): Promise<void>;
  /** True: the first certificate may come long after the first `read`. The server listens all the same, and no handshake succeeds. */
  readonly comesLate?: boolean;
  /** What is wrong with the certificate; undefined when all is well, or nobody can say. */
  problem?(): Problem | undefined;
}
