import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { invalidOption } from '../../errors.ts';
import { ApiError } from './api-error.ts';

/** What a TLS connection is made of. Two of these that are equal may share sockets. */
export type TlsMaterial = Pick<
  RequestOptions,
  'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized' | 'servername'
>;

/** Where the connections of one pool lead, and how. */
export interface Endpoint {
  readonly server: string;
  readonly proxyUrl: string | undefined;
  readonly tls: TlsMaterial;
}

/** One request's way in: the endpoint, and credentials that nobody keeps. */
export interface Access {
  readonly endpoint: Endpoint;
  readonly headers: Record<string, string>;
}

type Cluster = NonNullable<ReturnType<KubeConfig['getCurrentCluster']>>;

/** The cluster of the current context. Throws `ERR_INVALID_OPTION` where there is none to talk to safely. */
export function currentCluster(kubeConfig: KubeConfig): Cluster {
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null || !URL.canParse(cluster.server)) {
    throw invalidOption('kubeConfig', 'a KubeConfig whose current context names a cluster with a server URL', cluster);
  }
  if (cluster.proxyUrl && !/^https?:/.test(cluster.proxyUrl)) {
    throw invalidOption('proxy-url', 'an http or https URL', cluster.proxyUrl.split(':')[0]);
  }
  const { protocol, hostname } = new URL(cluster.server);
  if (protocol === 'https:') return cluster;
  if (protocol !== 'http:') throw invalidOption('server', 'an http or https URL', protocol);
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
  if (!isLoopback && !cluster.skipTLSVerify) {
    throw invalidOption(
      'server',
      'https, loopback, or plain http with skipTLSVerify set (a token must not travel in the clear)',
      protocol,
    );
  }
  return cluster;
}

/**
 * Asks the kubeconfig for this request's credentials and TLS material: client-node reads files, runs exec plugins
 * and refreshes tokens as they need it. Rejects with `NoCredentials`; what the authenticator said is left out,
 * for the output of a plugin can hold a token.
 */
export async function askForAccess(kubeConfig: KubeConfig, cluster: Cluster): Promise<Access> {
  const given: RequestOptions = {};
  try {
    await (cluster.server.startsWith('http:') ? allowingPlainHttp(kubeConfig, cluster) : kubeConfig).applyToHTTPSOptions(given);
  } catch (error) {
    throw new ApiError({ reason: 'NoCredentials', message: `The kubeconfig's authenticator failed (${kindOf(error)})` });
  }
  const headers: Record<string, string> = {};
  if (typeof given.auth === 'string') headers.Authorization = `Basic ${Buffer.from(given.auth).toString('base64')}`;
  for (const [name, value] of Object.entries(given.headers ?? {})) headers[name] = String(value);
  const { ca, cert, key, pfx, passphrase, servername } = given;
  // verified unless the kubeconfig says otherwise, whatever NODE_TLS_REJECT_UNAUTHORIZED says
  const tls = { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized: given.rejectUnauthorized !== false };
  return { endpoint: { server: cluster.server, proxyUrl: cluster.proxyUrl || undefined, tls }, headers };
}

/** client-node refuses plain http unless `skipTLSVerify` is set; {@link currentCluster} has the rule here. The caller's object stays as it is. */
function allowingPlainHttp(kubeConfig: KubeConfig, cluster: Cluster): KubeConfig {
  const withoutTls = { ...cluster, skipTLSVerify: true };
  return Object.create(kubeConfig, {
    getCurrentCluster: { value: () => withoutTls },
    agentCache: { value: new Map() },
  });
}

function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name;
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
