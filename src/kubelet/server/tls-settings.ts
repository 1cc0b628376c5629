// Names of Go's crypto/tls, as the kubelet's configuration has them.

import { invalidOption } from '../../base/errors.ts';
import { oneOfOption } from '../../base/options.ts';

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
export function tlsSettings(minVersion: TLSMinVersion = 'VersionTLS12', cipherSuites: readonly string[] = []) {
  const chosen = cipherSuites.flatMap((suite) => ofVersion12[suite] ?? []);
  return {
    minVersion: versions[minVersion],
    ...(chosen.length > 0 && { ciphers: [...ofVersion13, ...chosen].join(':'), honorCipherOrder: true }),
  };
}
