import { join, resolve } from 'node:path';
import type { Logger } from 'pod-status-manager';
import { makeCertificateRequest, selfSignedCertificate } from 'pod-status-manager/certificates';
import type { NodeAgentOptions } from 'pod-status-manager/kubelet';
import { ConfigError } from './config-values.ts';
import type { Flags } from './flags.ts';
import { ownDefaults } from './told-fields.ts';

type ServerOptions = NonNullable<NodeAgentOptions['server']>;
type Fields = Readonly<Record<string, unknown>>;

/** The path of a runtime's socket: `unix:///run/containerd/containerd.sock` is `/run/containerd/containerd.sock`. */
export function socketPath(endpoint: unknown = ownDefaults.containerRuntimeEndpoint): string {
  const path = typeof endpoint === 'string' ? endpoint.replace(/^unix:\/\//, '') : '';
  if (path.startsWith('/')) return path;
  throw new ConfigError(`containerRuntimeEndpoint must be a unix socket, got ${JSON.stringify(endpoint)}`);
}

/** Which node it is, and where it keeps its certificates. */
type NodeFlags = Pick<Flags, 'nodeName' | 'certificateFolder'>;

/** Where the agent's own API is served; undefined where it is not. */
export function serverOptions(own: Fields, node: NodeFlags, logger?: Logger): ServerOptions | undefined {
  const { enableServer = true, address, port } = own;
  if (enableServer === false) return undefined;
  const { 'authentication.anonymous.enabled': anonymous, 'authentication.x509.clientCAFile': clientCAFile } = own;
  const { 'authentication.webhook.cacheTTL': tokenMs, 'authorization.webhook.cacheAuthorizedTTL': allowedMs } = own;
  const { 'authorization.webhook.cacheUnauthorizedTTL': forbiddenMs } = own;
  const { tlsMinVersion, tlsCipherSuites, enableDebuggingHandlers, streamingConnectionIdleTimeout: idleMs } = own;
  if (tlsMinVersion !== undefined && !isVersion(tlsMinVersion)) {
    throw new ConfigError(`tlsMinVersion must be ${versions.join(' or ')}, got ${JSON.stringify(tlsMinVersion)}`);
  }
  return {
    ...certificateOptions(own, node, logger),
    ...(tlsMinVersion !== undefined && { tlsMinVersion }),
    // the agent checks the names
    ...(Array.isArray(tlsCipherSuites) && { tlsCipherSuites }),
    ...(typeof enableDebuggingHandlers === 'boolean' && { enableDebuggingHandlers }),
    ...(typeof idleMs === 'number' && { streamIdleTimeoutMs: idleMs }),
    ...(typeof tokenMs === 'number' && { authenticationCacheMs: tokenMs }),
    ...(typeof allowedMs === 'number' && { authorizedCacheMs: allowedMs }),
    ...(typeof forbiddenMs === 'number' && { unauthorizedCacheMs: forbiddenMs }),
    anonymous: anonymous === true,
    ...(typeof clientCAFile === 'string' && { clientCAFile }),
    ...(typeof address === 'string' && { address }),
    ...(typeof port === 'number' && { port }),
  };
}

/** The files of the certificate, or one that the cluster signs, or else one that signs itself: as the kubelet. */
function certificateOptions(
  { tlsCertFile, tlsPrivateKeyFile, serverTLSBootstrap }: Fields,
  { nodeName, certificateFolder }: NodeFlags,
  logger: Logger | undefined,
): ServerOptions {
  const files = [tlsCertFile, tlsPrivateKeyFile].filter((file) => typeof file === 'string' && file !== '');
  if (files.length === 1) throw new ConfigError('tlsCertFile and tlsPrivateKeyFile must be given together');
  if (typeof tlsCertFile === 'string' && typeof tlsPrivateKeyFile === 'string' && files.length === 2) {
    if (serverTLSBootstrap !== true) return { tlsCertFile, tlsPrivateKeyFile };
    throw new ConfigError('either tlsCertFile and tlsPrivateKeyFile must be given, or serverTLSBootstrap: true, and not both');
  }
  if (serverTLSBootstrap === true) return { serverTLSBootstrap, makeCertificateRequest, certificateFolder };
  return { certificate: selfSignedCertificate({ nodeName, folder: certificateFolder, logger }) };
}

/** Where the kubelet looks for credentials of registries. */
export function registryCredentialFiles({ rootDirectory = '/var/lib/kubelet' }: Pick<Flags, 'rootDirectory'>): string[] {
  const folders = [rootDirectory, process.cwd()].map((folder) => resolve(folder));
  // without one the kubelet looks below its own folder
  const home = resolve(process.env.HOME ?? '');
  return [
    ...[...folders, join(home, '.docker'), '/.docker'].map((folder) => join(folder, 'config.json')),
    ...[...folders, home, '/'].map((folder) => join(folder, '.dockercfg')),
  ];
}

/** Throws where the machine has swap, unless that is wanted: as a kubelet. `swaps`: what the kernel says in `/proc/swaps`. */
export function requireNoSwap({ failSwapOn = ownDefaults.failSwapOn }: Fields, swaps: string): void {
  const areas = swaps.trim().split('\n').slice(1);
  if (failSwapOn === false || areas.length === 0) return;
  const help = 'turn it off (swapoff -a), or set failSwapOn to false';
  throw new ConfigError(`failSwapOn: the machine has swap, ${help}: ${areas.join(', ')}`);
}

const versions = ['VersionTLS12', 'VersionTLS13'] as const;

function isVersion(value: unknown): value is (typeof versions)[number] {
  return versions.some((version) => version === value);
}

/** Throws where the machine has cgroups of version 1, unless they are wanted: as a kubelet. `controllers`: what `/sys/fs/cgroup` has of version 2. */
export function requireCgroups({ failCgroupV1 = ownDefaults.failCgroupV1 }: Fields, controllers: string | undefined): void {
  if (failCgroupV1 === false || controllers !== undefined) return;
  const help = 'start it with those of version 2 (systemd.unified_cgroup_hierarchy=1), or set failCgroupV1 to false';
  throw new ConfigError(`failCgroupV1: the machine has cgroups of version 1, ${help}`);
}

/** Throws where the process is in another cgroup than the file says. `cgroups`: what the kernel says in `/proc/self/cgroup`. */
export function requireOwnCgroup({ kubeletCgroups }: Fields, cgroups: string): void {
  if (kubeletCgroups === undefined) return;
  const found = cgroups
    .trim()
    .split('\n')
    .map((line) => line.split(':').slice(2).join(':'));
  if (found.some((path) => path === kubeletCgroups || path.startsWith(`${kubeletCgroups}/`))) return;
  const rule = 'the cgroup that the unit of the agent starts it in (Slice=), since the agent does not move itself';
  throw new ConfigError(`kubeletCgroups must be ${rule}: ${found.join(', ')}, got ${JSON.stringify(kubeletCgroups)}`);
}
