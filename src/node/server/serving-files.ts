import { randomBytes, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { invalidOption } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { oneOfOption } from '../../base/options.ts';
import type { CertificateSource } from '../certificates/certificate-source.ts';
import { fileInWords, readNamedFile, ServingFileError } from '../certificates/named-file.ts';

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

/** Who the server is, and whom it trusts. */
export interface ServingTrust extends Pick<ServingFiles, 'clientCAFile' | 'tlsMinVersion' | 'tlsCipherSuites'> {
  readonly certificates: CertificateSource;
  /** The name of the option that `clientCAFile` comes from. Default `server.clientCAFile`. */
  readonly clientCAOption?: string;
}

/** What was read. */
export interface ServingContext {
  readonly secure: SecureContextOptions;
  /** Two readings that are equal have the same text. */
  readonly text: string;
}

/** The authorities of clients; undefined without a file. Rejects when it cannot be read or has none. */
export async function readAuthorities({
  clientCAFile: path,
  clientCAOption: option = 'server.clientCAFile',
}: Pick<ServingTrust, 'clientCAFile' | 'clientCAOption'>): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const ca = await readNamedFile({ path, option });
  // an empty list of authorities would be read as those of the platform, and Node.js passes over what is no certificate
  if (!hasCertificate(ca))
    throw new ServingFileError(`the file ${fileInWords({ path, option })} has no certificate of an authority`);
  return ca;
}

const blocks = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

function hasCertificate(text: string): boolean {
  return (text.match(blocks) ?? []).some((block) => callGuarded(() => new X509Certificate(block), ignoreFailure) !== undefined);
}

/** Reads all of it. Rejects when something is missing, or when it does not fit together. */
export async function readServing(trust: ServingTrust): Promise<ServingContext> {
  const { certificates, tlsMinVersion, tlsCipherSuites } = trust;
  const [{ cert, key }, ca] = await Promise.all([certificates.read(), readAuthorities(trust)]);
  for (const [name, text] of Object.entries({ certificate: cert, key })) {
    // Node.js takes an empty text for none at all
    if (typeof text !== 'string' || text === '') throw new Error(`the source of the server's certificate gave no ${name}`);
  }
  const secure: SecureContextOptions = {
    cert,
    key,
    ...tlsSettings(tlsMinVersion, tlsCipherSuites),
    // a session of before must not carry on what was verified with other authorities
    sessionIdContext: randomBytes(16).toString('hex'),
    ...(ca !== undefined && { ca: [ca] }),
  };
  createSecureContext(secure);
  return { secure, text: JSON.stringify([cert, key, ca ?? null]) };
}

// Names of Go's crypto/tls, as the kubelet's configuration has them.

/** The oldest version of TLS that is spoken, as the kubelet's setting names it. */
export type TLSMinVersion = 'VersionTLS12' | 'VersionTLS13';

const versions = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' } as const;
const ofVersion13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];
const ofVersion12: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
};

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. `prefix`: what the names of the options begin with. */
export function requireTLSSettings(minVersion: string | undefined, cipherSuites: unknown, prefix: `${string}.${string}`): void {
  if (minVersion !== undefined) oneOfOption(`${prefix}MinVersion`, minVersion, Object.keys(versions));
  if (cipherSuites === undefined) return;
  if (!Array.isArray(cipherSuites)) throw invalidOption(`${prefix}CipherSuites`, 'a list of names', cipherSuites);
  for (const suite of cipherSuites) {
    if (ofVersion13.includes(suite) || (typeof suite === 'string' && Object.hasOwn(ofVersion12, suite))) continue;
    throw invalidOption(`${prefix}CipherSuites`, `a list of ${Object.keys(ofVersion12).join(', ')}`, suite);
  }
}

/** As Node.js takes them. Without suites of version 1.2 the platform's are used; those of version 1.3 are always, as in Go. */
function tlsSettings(minVersion: TLSMinVersion = 'VersionTLS12', cipherSuites: readonly string[] = []) {
  const chosen = cipherSuites.flatMap((suite) => ofVersion12[suite] ?? []);
  return {
    minVersion: versions[minVersion],
    ...(chosen.length > 0 && { ciphers: [...ofVersion13, ...chosen].join(':'), honorCipherOrder: true }),
  };
}
