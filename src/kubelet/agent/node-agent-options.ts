import { apiserverSource } from '../../api/pod/pod-identity.ts';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type Metrics, type MetricsSink, metricsOption } from '../../base/metrics/metrics.ts';
import { nodeNameOption } from '../../base/names.ts';
import { optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import type { Problem } from '../../base/problem.ts';
import { safeRandom } from '../../base/random.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { ClientConfig } from '../../client/kubeconfig/client-config.ts';
import type { PodClient } from '../../client/resources/kube-pod-client.ts';
import type { KubeTransport } from '../../client/transport/kube-transport.ts';
import { type ObjectBudget, type ObjectBudgetOptions, objectBudget } from '../../node/object-managers/object-budget.ts';
import type { Prober } from '../../node/probes/prober.ts';
import { type NodeServerOptions, type ResolvedServer, resolveServer } from '../../node/server/serving-settings.ts';
import type { PodBudgetOptions } from '../../node/sources/pod-budget.ts';
import type { PodSource } from '../../node/sources/pod-source.ts';
import { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import type { StatusManagerOptions } from '../../status/status-manager-options.ts';
import type { PodCgroups } from '../cgroups/cgroup-manager.ts';
import type { PluginConnector } from '../csi/csi-node.ts';
import type { DevicePluginConnector } from '../devices/device-plugin.ts';
import type { DraConnector } from '../dra/dra-driver.ts';
import { type Machine, readMachine } from '../machine/machine.ts';
import type { NodeNetwork } from '../machine/node-addresses.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { ShutdownSignals } from '../shutdown/shutdown-signals.ts';
import type { OpenSystemBus } from '../systemd/system-bus.ts';
import type { Mounter } from '../volumes/mounter.ts';
import type { VolumeManagerOptions } from '../volumes/volume-manager-options.ts';
import { type AgentSettings, type ResolvedSettings, resolveSettings, settingNames } from './agent-settings.ts';
import { requireFurtherFields } from './kubelet-configuration.ts';

/** Where the agent's own API is served, and to whom. */
export interface AgentServerOptions extends NodeServerOptions {}

/** A part that says what is wrong with it. */
export interface ProblemSource {
  /** The problem of now; undefined: there is none. */
  problem(): Problem | undefined;
}

/** Speaks with all kinds of plugins of a node. */
export interface NodePlugins extends PluginConnector, DraConnector, DevicePluginConnector {}

/** Which node it is, what runs its containers, and how. `nodeName`, `runtime` and one of `kubeConfig` and `transport` are needed. */
export interface NodeAgentOptions extends AgentSettings {
  /** The server to ask. One of this and `transport` is needed. */
  readonly kubeConfig?: ClientConfig;
  /** What renews the client certificate of `kubeConfig`: what it lacks is among the problems of the node. Default: nothing. */
  readonly clientCertificate?: ProblemSource;
  /** A transport shared with others; `stop()` leaves it open. */
  readonly transport?: KubeTransport;
  /** The name of the node: of its object, its Lease, and in the `spec.nodeName` of its pods. */
  readonly nodeName: string;
  /** Runs the containers. `stop()` leaves it open. */
  readonly runtime: ContainerRuntime;
  /** The agent's own API: logs, commands in containers, forwarded ports. Default: none is served. */
  readonly server?: AgentServerOptions;
  /** Where pods come from beside the apiserver, `staticPodPath` and `staticPodURL`, by name. Default: nowhere. */
  readonly sources?: Readonly<Record<string, PodSource>>;
  /** Makes mounts. Default: the system's `mount` and `umount`. */
  readonly mounter?: Mounter;
  /**
   * Speaks with plugins over their sockets, such as `GrpcPlugins` of `pod-status-manager/plugins`. Those in `plugins_registry` of the root
   * directory are registered: storage drivers (CSI), for volumes that live with their pod, drivers of dynamic resource allocation, for pods
   * with `resourceClaims`, and device plugins, also those that come to `device-plugins/kubelet.sock`. Default: there are no plugins.
   */
  readonly plugins?: NodePlugins;
  /** Makes the cgroups of pods. Default: those of the machine. */
  readonly cgroups?: PodCgroups;
  /**
   * How systemd is reached, where the container runtime's cgroup driver is `systemd`: the function of that name of
   * `pod-status-manager/systemd`. Default: such a runtime stops the start.
   */
  readonly openSystemBus?: OpenSystemBus;
  /** Probes containers. Default: over the network and by commands in containers. */
  readonly prober?: Prober;
  /** What the machine is. Default: what the kernel says. */
  readonly machine?: Machine;
  /** Where the node's addresses are looked for. Default: the machine's interfaces and routes, and its names. */
  readonly network?: NodeNetwork;
  /** How the agent hears of the machine's shutdown, and delays it. Default: by systemd-logind. */
  readonly shutdownSignals?: ShutdownSignals;
  /** Default: one of its own. */
  readonly podManager?: BasicPodManager;
  /** What statuses are written with, such as a client that counts. `stop()` leaves it open. Default: one over the transport. */
  readonly podClient?: PodClient;
  /** How statuses are written: as `StatusManager`'s. */
  readonly statusManager?: Partial<
    Pick<StatusManagerOptions, 'syncPeriodMs' | 'concurrency' | 'requestTimeoutMs' | 'rateLimiter' | 'patchFormat'>
  >;
  /** How much memory the pods may take; one that takes more is refused. Default: 2 MiB of one pod, 16 MiB of all, for a heap of 128 MB. */
  readonly podBudget?: PodBudgetOptions;
  /** How much of secrets and config maps pods may make the agent hold. Default: as `objectBudget`'s, for a heap of 128 MB. */
  readonly objectBudget?: ObjectBudgetOptions;
  /** How many volumes a pod may have, and how much files of secrets, tokens and the like may take in memory. Default: as `VolumeManager`'s. */
  readonly volumeBudget?: Pick<VolumeManagerOptions, 'maxVolumesPerPod' | 'maxFileBytesPerPod' | 'maxFileBytes'>;
  /** Default: events are written to the apiserver. */
  readonly eventRecorder?: EventRecorder;
  /** True: `stop` deletes the node and its Lease, where this process has created them. Default false, as the kubelet. */
  readonly removeOnStop?: boolean;
  /** All metrics of the agent in the text format of Prometheus, for its API. Default: no text. */
  readonly metricsText?: () => string | Promise<string>;
  /**
   * What the program around the agent does itself of KubeletConfiguration v1beta1, nested as in its file, such as `{ failSwapOn: false }`.
   * `/configz` of the agent's API tells it to whoever may read the node's configuration, beside the fields that follow from the options.
   * A field that follows from an option is ERR_INVALID_OPTION. Default: nothing.
   */
  readonly kubeletConfiguration?: Readonly<Record<string, unknown>>;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** Goes to every part. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
}

const pluginMethods = [
  'registration',
  'csiNode',
  'draDriver',
  'devicePlugin',
  'serveDeviceRegistration',
  'servePodResources',
  'allocationBytes',
  'readAllocation',
];
const statusManagerNames = ['syncPeriodMs', 'concurrency', 'requestTimeoutMs', 'rateLimiter', 'patchFormat'];
const knownOptions = [
  ...settingNames,
  'kubeConfig',
  'transport',
  'nodeName',
  'runtime',
  'server',
  'sources',
  'mounter',
  'plugins',
  'cgroups',
  'openSystemBus',
  'prober',
  'machine',
  'network',
  'shutdownSignals',
  'podManager',
  'clientCertificate',
  'podClient',
  'statusManager',
  'podBudget',
  'objectBudget',
  'volumeBudget',
  'eventRecorder',
  'removeOnStop',
  'metricsText',
  'kubeletConfiguration',
  'random',
  'clock',
  'logger',
  'metrics',
] as const satisfies readonly (keyof NodeAgentOptions)[];

/** The options, checked and complete. */
export interface ResolvedAgentOptions {
  readonly given: NodeAgentOptions;
  readonly nodeName: string;
  readonly settings: ResolvedSettings;
  readonly machine: Machine;
  readonly sources: readonly (readonly [name: string, source: PodSource])[];
  readonly podManager: BasicPodManager;
  readonly objectBudget: ObjectBudget;
  /** How the agent's own API is served; undefined: not at all. */
  readonly server: ResolvedServer | undefined;
  /** What the program around the agent says of itself. */
  readonly kubeletConfiguration: Readonly<Record<string, unknown>>;
  readonly random: () => number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** For a part that takes no random numbers. The metrics are absent where there are none. */
  readonly measured: { readonly clock: SteadyClock; readonly logger: Logger; readonly metrics?: MetricsSink };
  /** All that parts share. */
  readonly shared: ResolvedAgentOptions['measured'] & { readonly random: () => number };
}

const runtimeMethods = [
  'version',
  'health',
  'runPodSandbox',
  'stopPodSandbox',
  'removePodSandbox',
  'podSandboxStatus',
  'listPodSandboxes',
  'createContainer',
  'startContainer',
  'stopContainer',
  'removeContainer',
  'containerStatus',
  'listContainers',
  'execSync',
  'pullImage',
  'events',
] as const satisfies readonly (keyof ContainerRuntime)[];
const reservedSources = [apiserverSource, 'file', 'http', ''];

export function resolveAgentOptions(options: NodeAgentOptions): ResolvedAgentOptions {
  requireKnownOptions('options', options, knownOptions);
  const {
    kubeConfig,
    transport,
    runtime,
    podManager = new BasicPodManager(),
    clock = systemClock,
    random = Math.random,
  } = options;
  if ((kubeConfig === undefined) === (transport === undefined)) {
    throw invalidOption('kubeConfig', 'given, or else `transport`, and not both', kubeConfig);
  }
  const nodeName = nodeNameOption(options.nodeName);
  requireMethods('runtime', runtime, runtimeMethods);
  if (options.server !== undefined) requireMethods('runtime', runtime, ['exec', 'attach', 'portForward']);
  if (options.plugins !== undefined) requireMethods('plugins', options.plugins, pluginMethods);
  if (options.network !== undefined) requireMethods('network', options.network, ['addresses', 'defaultRoutes', 'lookup']);
  const { shutdownSignals } = options;
  if (shutdownSignals !== undefined)
    requireMethods('shutdownSignals', shutdownSignals, ['read', 'allowDelay', 'delay', 'listen']);
  requireMethods('clock', clock, ['now', 'setTimer']);
  optionOfType('random', random, 'function');
  if (options.clientCertificate !== undefined) requireMethods('clientCertificate', options.clientCertificate, ['problem']);
  const metrics = metricsOption(options.metrics);
  if (options.openSystemBus !== undefined) optionOfType('openSystemBus', options.openSystemBus, 'function');
  if (options.metricsText !== undefined) optionOfType('metricsText', options.metricsText, 'function');
  if (options.removeOnStop !== undefined) optionOfType('removeOnStop', options.removeOnStop, 'boolean');
  requireKnownOptions('statusManager', options.statusManager ?? {}, statusManagerNames);
  requireKnownOptions('volumeBudget', options.volumeBudget ?? {}, ['maxVolumesPerPod', 'maxFileBytesPerPod', 'maxFileBytes']);
  const timed = { clock: safeClock(clock), logger: loggerOption(options.logger) };
  const measured = options.metrics === undefined ? timed : { ...timed, metrics: options.metrics };
  const safe = safeRandom(random);
  return {
    given: options,
    nodeName,
    podManager,
    measured,
    random: safe,
    objectBudget: objectBudget(options.objectBudget),
    settings: resolveSettings(options),
    machine: options.machine ?? readMachine(),
    sources: sourcesOf(options.sources ?? {}),
    server: options.server && resolveServer(options.server),
    kubeletConfiguration: requireFurtherFields(options.kubeletConfiguration ?? {}),
    clock: timed.clock,
    logger: timed.logger,
    metrics,
    shared: { ...measured, random: safe },
  };
}

function sourcesOf(sources: Readonly<Record<string, PodSource>>): [string, PodSource][] {
  if (typeof sources !== 'object' || sources === null) throw invalidOption('sources', 'an object of pod sources', sources);
  return Object.entries(sources).map(([name, source]) => {
    if (reservedSources.includes(name)) throw invalidOption('sources', `an object without the name "${name}"`, name);
    requireMethods(`sources.${name}`, source, ['start', 'stop']);
    return [name, source];
  });
}
