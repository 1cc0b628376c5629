import { join } from 'node:path';
import { makeCertificateRequest } from 'pod-status-manager/certificates';
import type { NodeAgentOptions } from 'pod-status-manager/kubelet';
import { ConfigError, isRecord } from './config-fields.ts';

type ServerOptions = NonNullable<NodeAgentOptions['server']>;
type Fields = Readonly<Record<string, unknown>>;

/** The path of a runtime's socket: `unix:///run/containerd/containerd.sock` is `/run/containerd/containerd.sock`. */
export function socketPath(endpoint: unknown): string {
  if (endpoint === undefined) return '/run/containerd/containerd.sock';
  const path = typeof endpoint === 'string' ? endpoint.replace(/^unix:\/\//, '') : '';
  if (path.startsWith('/')) return path;
  throw new ConfigError(`containerRuntimeEndpoint must be a unix socket, got ${JSON.stringify(endpoint)}`);
}

/** Where the agent's own API is served; undefined where it is not. `rootDirectory`: a certificate that was asked for is kept there. */
export function serverOptions(own: Fields, rootDirectory = '/var/lib/kubelet'): ServerOptions | undefined {
  const { enableServer = true, address, port } = own;
  if (enableServer === false) return undefined;
  const { anonymous, webhook, x509 } = fieldsOf(own.authentication);
  const { mode = 'Webhook' } = fieldsOf(own.authorization);
  if (mode !== 'Webhook') throw new ConfigError(`authorization.mode must be Webhook, got ${JSON.stringify(mode)}`);
  if (fieldsOf(webhook).enabled === false) throw new ConfigError('authentication.webhook.enabled must be true');
  const { clientCAFile } = fieldsOf(x509);
  const { tlsMinVersion, tlsCipherSuites, enableDebuggingHandlers, streamingConnectionIdleTimeout: idleMs } = own;
  if (tlsMinVersion !== undefined && !isVersion(tlsMinVersion)) {
    throw new ConfigError(`tlsMinVersion must be ${versions.join(' or ')}, got ${JSON.stringify(tlsMinVersion)}`);
  }
  return {
    ...certificateOptions(own, rootDirectory),
    ...(tlsMinVersion !== undefined && { tlsMinVersion }),
    // the agent checks the names
    ...(Array.isArray(tlsCipherSuites) && { tlsCipherSuites }),
    ...(typeof enableDebuggingHandlers === 'boolean' && { enableDebuggingHandlers }),
    ...(typeof idleMs === 'number' && { streamIdleTimeoutMs: idleMs }),
    anonymous: fieldsOf(anonymous).enabled === true,
    ...(typeof clientCAFile === 'string' && { clientCAFile }),
    ...(typeof address === 'string' && { address }),
    ...(typeof port === 'number' && { port }),
  };
}

/** The files of the certificate, or the folder for one that the cluster signs: the kubelet's. */
function certificateOptions(
  { tlsCertFile, tlsPrivateKeyFile, serverTLSBootstrap }: Fields,
  rootDirectory: string,
): ServerOptions {
  const files = typeof tlsCertFile === 'string' && typeof tlsPrivateKeyFile === 'string';
  if (files && serverTLSBootstrap !== true) return { tlsCertFile, tlsPrivateKeyFile };
  if (!files && serverTLSBootstrap === true) {
    return { serverTLSBootstrap, makeCertificateRequest, certificateFolder: join(rootDirectory, 'pki') };
  }
  throw new ConfigError(
    'either tlsCertFile and tlsPrivateKeyFile must be given, or serverTLSBootstrap: true, or enableServer: false',
  );
}

/** Throws where the file wants no swap and the machine has some. `swaps`: what the kernel says in `/proc/swaps`. */
export function requireNoSwap({ failSwapOn = false }: Fields, swaps: string): void {
  const areas = swaps.trim().split('\n').slice(1);
  if (failSwapOn === true && areas.length > 0) throw new ConfigError(`failSwapOn: the machine has swap: ${areas.join(', ')}`);
}

const versions = ['VersionTLS12', 'VersionTLS13'] as const;

function isVersion(value: unknown): value is (typeof versions)[number] {
  return versions.some((version) => version === value);
}

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}
