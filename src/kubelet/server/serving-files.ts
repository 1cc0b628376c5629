import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { type TLSMinVersion, tlsSettings } from './tls-settings.ts';

/** Files that the server's identity and its trust come from, all PEM. They are read again when they change. */
export interface ServingFiles {
  /** The certificate that clients see, with its chain. */
  readonly certFile: string;
  /** The key of the certificate. */
  readonly keyFile: string;
  /** The authorities that sign certificates of clients. Without it no client certificate counts. */
  readonly clientCAFile?: string | undefined;
  /** The oldest version of TLS that is spoken. Default `VersionTLS12`. */
  readonly tlsMinVersion?: TLSMinVersion | undefined;
  /**
   * Suites of TLS 1.2 that are taken, as Go names them: `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`. Those of TLS 1.3 cannot be chosen.
   * Default: those of Node.js.
   */
  readonly tlsCipherSuites?: readonly string[] | undefined;
}

/** What the files held. */
export interface ServingCertificates {
  readonly secure: SecureContextOptions;
  /** Two readings that are equal have the same text. */
  readonly text: string;
}

/** Reads the files. Rejects when one is missing, or when they do not fit together. */
export async function readServingFiles(files: ServingFiles): Promise<ServingCertificates> {
  const { certFile, keyFile, clientCAFile, tlsMinVersion, tlsCipherSuites } = files;
  const [cert, key, ca] = await Promise.all([
    readFile(certFile, 'utf8'),
    readFile(keyFile, 'utf8'),
    clientCAFile === undefined ? undefined : readFile(clientCAFile, 'utf8'),
  ]);
  // a file is empty for a moment while it is written anew, and Node.js takes an empty text for none at all
  if (cert === '' || key === '') throw new Error(`the file of the ${cert === '' ? 'certificate' : 'key'} is empty`);
  // an empty list of authorities would be read as those of the platform
  if (ca !== undefined && !ca.includes('-----BEGIN CERTIFICATE-----')) throw new Error('the file of client authorities has none');
  const secure: SecureContextOptions = {
    ...{ cert, key, ...tlsSettings(tlsMinVersion, tlsCipherSuites) },
    // a session of before must not carry on what was verified with other authorities
    sessionIdContext: randomBytes(16).toString('hex'),
    ...(ca !== undefined && { ca: [ca] }),
  };
  createSecureContext(secure);
  return { secure, text: JSON.stringify([cert, key, ca ?? null]) };
}
