import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';

/** Files that the server's identity and its trust come from, all PEM. They are read again when they change. */
export interface ServingFiles {
  /** The certificate that clients see, with its chain. */
  readonly certFile: string;
  /** The key of the certificate. */
  readonly keyFile: string;
  /** The authorities that sign certificates of clients. Without it no client certificate counts. */
  readonly clientCAFile?: string | undefined;
}

/** What the files held. */
export interface ServingCertificates {
  readonly secure: SecureContextOptions;
  /** Two readings that are equal have the same text. */
  readonly text: string;
}

/** Reads the files. Rejects when one is missing, or when they do not fit together. */
export async function readServingFiles({ certFile, keyFile, clientCAFile }: ServingFiles): Promise<ServingCertificates> {
  const [cert, key, ca] = await Promise.all([
    readFile(certFile, 'utf8'),
    readFile(keyFile, 'utf8'),
    clientCAFile === undefined ? undefined : readFile(clientCAFile, 'utf8'),
  ]);
  // an empty list of authorities would be read as those of the platform
  if (ca !== undefined && !ca.includes('-----BEGIN CERTIFICATE-----')) throw new Error('the file of client authorities has none');
  const secure: SecureContextOptions = {
    ...{ cert, key, minVersion: 'TLSv1.2' },
    // a session of before must not carry on what was verified with other authorities
    sessionIdContext: randomBytes(16).toString('hex'),
    ...(ca !== undefined && { ca: [ca] }),
  };
  createSecureContext(secure);
  return { secure, text: JSON.stringify([cert, key, ca ?? null]) };
}
