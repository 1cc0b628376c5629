import type { Cluster } from '@kubernetes/client-node';
import { invalidOption } from '../../base/errors.ts';
import type { Authentication } from '../credentials/kube-credentials.ts';
import type { ClientConfig } from '../kubeconfig/client-config.ts';

/** What a TLS connection is made of. Two of these that are equal may share sockets. */
export type TlsMaterial = Authentication['tls'];

/** Where the connections of one pool lead, and how. */
export interface Endpoint {
  readonly server: string;
  readonly proxyUrl: string | undefined;
  readonly tls: TlsMaterial;
}

/** The cluster of the current context. Throws `ERR_INVALID_OPTION` where there is none to talk to safely. */
export function currentCluster(kubeConfig: ClientConfig): Cluster {
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null || !URL.canParse(cluster.server)) {
    throw invalidOption('kubeConfig', 'a kubeconfig whose current context names a cluster with a server URL', cluster);
  }
  const { protocol, hostname } = new URL(cluster.server);
  if (protocol !== 'https:' && protocol !== 'http:') throw invalidOption('server', 'an http or https URL', protocol);
  if (protocol === 'http:' && !isLoopback(hostname) && !cluster.skipTLSVerify) {
    throw invalidOption(
      'server',
      'https, loopback, or plain http with skipTLSVerify set (a token must not travel in the clear)',
      protocol,
    );
  }
  if (cluster.proxyUrl) requireUsableProxy(cluster.proxyUrl, protocol);
  return cluster;
}

/** The longest address that an error shows: what failed comes after it. */
const longestAddress = 300;

/** The address of a request as errors show it: without a query, a user or a password. */
export function shownAddress(server: string, path: string): string {
  const { origin, pathname } = new URL(server);
  const address = `${origin}${pathname.replace(/\/+$/, '')}${path.split('?', 1)[0]}`;
  return address.length > longestAddress ? `${address.slice(0, longestAddress)}…` : address;
}

/** The value is never shown whole: a proxy's URL may hold a password. */
function requireUsableProxy(proxyUrl: string, serverProtocol: string): void {
  const url = URL.canParse(proxyUrl) ? new URL(proxyUrl) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw invalidOption('proxy-url', 'an http or https URL', url?.protocol.replace(':', '') ?? 'no URL');
  }
  if (serverProtocol === 'http:' && !isLoopback(url.hostname)) {
    throw invalidOption(
      'proxy-url',
      'a loopback address where the server is plain http (the proxy would see the token)',
      url.hostname,
    );
  }
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    throw invalidOption('proxy-url', 'a URL whose user and password are percent-encoded', undefined);
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

const tlsKeys = ['ca', 'cert', 'key', 'pfx', 'passphrase', 'rejectUnauthorized', 'servername'] as const;

/** True when connections made for one endpoint serve the other. */
export function isSameEndpoint(a: Endpoint, b: Endpoint): boolean {
  return a.server === b.server && a.proxyUrl === b.proxyUrl && tlsKeys.every((key) => isSameMaterial(a.tls[key], b.tls[key]));
}

function isSameMaterial(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  if (!Array.isArray(a) || !Array.isArray(b)) return false;
  return a.length === b.length && a.every((part, index) => isSameMaterial(part, b[index]));
}
