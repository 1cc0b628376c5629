import type { Pod } from '../../api/json/types.ts';
import { type Clock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { requireKnownOptions, requireMethods } from '../../base/options.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { CertificateFiles } from '../../node/certificates/certificate-files.ts';
import type { HealthCheck } from '../../node/server/api-host.ts';
import { requireTLSSettings, type ServingFiles } from '../../node/server/serving-files.ts';
import { type NodeApiServerOptions, resolveServing } from '../../node/server/serving-settings.ts';
import type { StatsSummary } from '../../node/server/stats-types.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';

/** What a {@link KubeletApi} serves, where, and to whom. `host`, `nodeName`, `tls` and `transport` are needed. */
export interface KubeletApiOptions {
  /** What is shown. */
  readonly host: KubeletApiHost;
  /** The node that rights are asked for. */
  readonly nodeName: string;
  /** The server's certificate, and the authorities of clients. */
  readonly tls: ServingFiles;
  /** Reaches the apiserver for TokenReviews and SubjectAccessReviews. Closing it is left to its owner. */
  readonly transport: ResourceTransport;
  /** The address to listen on. Default: every address. */
  readonly address?: string;
  /** The port; 0: any that is free. Default 10250. */
  readonly port?: number;
  /** True: a request without credentials is that of `system:anonymous`, which needs rights as any other. Default false. */
  readonly anonymous?: boolean;
  /**
   * False: logs, commands in containers, forwarded ports and the pods that run are answered with 405 whoever asks, and the
   * configuration with 404. Default true.
   */
  readonly enableDebuggingHandlers?: boolean;
  /** So many streams (logs included) are open at once; one more is answered with 429. Default 1,000. */
  readonly maxStreams?: number;
  /** A stream over which nothing moves for so long is ended, in milliseconds. Default 14,400,000 (4 hours). */
  readonly streamIdleTimeoutMs?: number;
  /** How long the apiserver's answer whose a token is counts, in milliseconds; 0: for one request. Default 120,000. */
  readonly authenticationCacheMs?: number;
  /** How long the apiserver's answer that a sender may do something counts, in milliseconds; 0: for one request. Default 300,000. */
  readonly authorizedCacheMs?: number;
  /** How long the apiserver's answer that a sender may not do something counts, in milliseconds; 0: for one request. Default 30,000. */
  readonly unauthorizedCacheMs?: number;
  /** How often the files of `tls` are looked at, in milliseconds. Default 30,000. */
  readonly reloadPeriodMs?: number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

export type ResolvedApiOptions = Omit<NodeApiServerOptions, 'host'> & { readonly host: KubeletApiHost };

const needed = ['host', 'nodeName', 'tls', 'transport'];
const optional = [
  ...['address', 'port', 'anonymous', 'enableDebuggingHandlers', 'maxStreams', 'streamIdleTimeoutMs', 'reloadPeriodMs'],
  ...['authenticationCacheMs', 'authorizedCacheMs', 'unauthorizedCacheMs'],
  ...['clock', 'logger'],
];
const hostMethods = [
  ...['pods', 'pod', 'runningPods', 'runningContainerID', 'sandboxID', 'healthChecks', 'metrics', 'statsSummary', 'configz'],
];

/** Throws ERR_INVALID_OPTION for an option that breaks a rule. */
export function resolveApiOptions(options: KubeletApiOptions): ResolvedApiOptions {
  requireKnownOptions('options', options, [...needed, ...optional]);
  const { host, nodeName, tls, transport } = options;
  requireMethods('host', host, hostMethods);
  requireMethods('host.runtime', host.runtime, ['containerStatus', 'exec', 'execSync', 'attach', 'portForward']);
  requireMethods('transport', transport, ['request', 'stream']);
  requireKnownOptions('tls', tls, ['certFile', 'keyFile', 'clientCAFile', 'tlsMinVersion', 'tlsCipherSuites']);
  for (const [name, value] of Object.entries({ nodeName, 'tls.certFile': tls.certFile, 'tls.keyFile': tls.keyFile })) {
    if (typeof value !== 'string' || value === '') throw invalidOption(name, 'a non-empty string', value);
  }
  if (tls.clientCAFile !== undefined && typeof tls.clientCAFile !== 'string') {
    throw invalidOption('tls.clientCAFile', 'a string', tls.clientCAFile);
  }
  requireTLSSettings(tls.tlsMinVersion, tls.tlsCipherSuites, 'tls.tls');
  const { certFile, keyFile, clientCAFile, tlsMinVersion, tlsCipherSuites } = tls;
  return {
    ...resolveServing(options),
    host,
    nodeName,
    certificates: new CertificateFiles({ path: certFile, option: 'tls.certFile' }, { path: keyFile, option: 'tls.keyFile' }),
    clientCAOption: 'tls.clientCAFile',
    clientCAFile,
    tlsMinVersion,
    tlsCipherSuites,
    transport,
    clock: safeClock(options.clock ?? systemClock),
    logger: loggerOption(options.logger),
  };
}

/**
 * What the kubelet's API shows, given by the agent. What a method rejects with is answered with 500, and a `KubeletApiRefusal` with
 * the status and the text that it has.
 */
export interface KubeletApiHost {
  /** The runtime that has the containers. Its streams are URLs of this machine. */
  readonly runtime: Pick<ContainerRuntime, 'containerStatus' | 'exec' | 'execSync' | 'attach' | 'portForward'>;
  /** The pods of the node, each with the newest status that the agent has for it. */
  pods(): readonly Pod[];
  /**
   * One of them by its name, and by its uid where that is given: the pod's own, or that of its mirror. A mirror pod counts as the
   * static pod.
   */
  pod(namespace: string, name: string, uid: string | undefined): Pod | undefined;
  /** What really runs: pods put together from what the runtime lists. */
  runningPods(signal: AbortSignal): Promise<readonly Pod[]>;
  /** The runtime's id of a container of the pod that runs; undefined where none does. */
  runningContainerID(pod: Pod, container: string, signal: AbortSignal): Promise<string | undefined>;
  /** The runtime's id of the pod's newest sandbox that is ready; undefined where there is none. */
  sandboxID(pod: Pod, signal: AbortSignal): Promise<string | undefined>;
  /** What `/healthz` looks at, beside the server itself. */
  healthChecks(): readonly HealthCheck[];
  /** All metrics of the agent, in the text format of Prometheus. */
  metrics(): string | Promise<string>;
  /** What the node and its pods take: the shape of `/stats/summary`. */
  statsSummary(signal: AbortSignal): Promise<StatsSummary>;
  /** What `/metrics/cadvisor` shows: what containers, pods and the machine take, in the text format of Prometheus. Default: there is no such page. */
  readonly containerMetrics?: (() => Promise<string>) | undefined;
  /** The agent's configuration, shown as `{"kubeletconfig": …}`. It must hold no secret. */
  configz(): unknown;
}
