import { apiserverSource } from '../../api/pod/pod-identity.ts';
import { type Clock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type MetricsSink, metricsOption } from '../../base/metrics/metrics.ts';
import { optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { ClientConfig } from '../../client/kubeconfig/client-config.ts';
import type { PodClient } from '../../client/resources/kube-pod-client.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import type { StatusManagerOptions } from '../../status/status-manager-options.ts';
import type { MirrorPodReconcilerOptions } from '../mirror/reconciler-options.ts';
import type { NodeObjectOptions } from '../node-object/node-object-options.ts';
import { type NodeServerOptions, type ResolvedServer, resolveServer } from '../server/serving-settings.ts';
import type { ApiServerSourceOptions } from '../sources/api-server-source.ts';
import type { PodSource } from '../sources/pod-source.ts';
import type { SyncLoopOptions } from '../workers/sync-loop-options.ts';
import type { PodWorkersOptions } from '../workers/workers-options.ts';
import type { PodProvider } from './pod-provider.ts';
import { type ProviderPodSyncerOptions, requireFilesFolder, requireProvider } from './provider-pod-syncer-options.ts';
import type { SharedWatches } from './shared-watches.ts';

/** What goes on to the node's object as it is. */
export interface NodeMembers
  extends Partial<Omit<NodeObjectOptions, 'transport' | 'watchTransport' | 'nodeName' | 'eventRecorder' | SharedOption>> {}
/** The options that all parts of a node share: they are given once, to the node. */
export type SharedOption = 'random' | 'clock' | 'logger' | 'metrics';

/** Which node it is, what runs its pods, and how. `nodeName`, `provider` and one of `kubeConfig` and `transport` are needed. */
export interface ProviderNodeOptions extends NodeMembers {
  /** The server to ask. One of this and `transport` is needed. */
  readonly kubeConfig?: ClientConfig;
  /**
   * Carries every request of the node: a `KubeTransport` that is shared with others, or one around it, such as a `GuardedTransport`.
   * `stop()` leaves it open.
   */
  readonly transport?: ResourceTransport;
  /**
   * What this node watches together with others of the process: pods, nodes and services. Then its own lists are not streamed, and
   * `apiServerSource.idleTimeoutMs` counts for nothing. `stop()` leaves it running; not with `namespace`. Default: the node watches by itself.
   */
  readonly sharedWatches?: SharedWatches;
  /** The name of the node: of its object, its Lease, and in the `spec.nodeName` of its pods. */
  readonly nodeName: string;
  /** Runs the pods. */
  readonly provider: PodProvider;
  /**
   * True: the provider gets pods as they are on the apiserver. Default false: it gets them with plain values in the place of what they
   * refer to, and with the files of their volumes, once all of that is there.
   */
  readonly rawPods?: boolean;
  /**
   * An absolute path, on Linux: the files of volumes of config maps, secrets, fields and tokens are written to
   * `FOLDER/UID/volumes/NAME`, and a pod comes with `volumeFolders` in place of `files`. A reader sees one version of all files of
   * a volume, through symbolic links, as with a kubelet. While the pod runs they are looked at every 60 to 90 s and written again
   * where something has changed, tokens before they end; they are removed once the pod has ended. Secrets and tokens are among them:
   * let it be a folder in memory, such as one below `/run`. The files have the modes that the pod asks for, and belong to the
   * user of the agent: `fsGroup` and `runAsUser` change nothing. Only the agent's user and group get into the folder of a pod. One
   * pod may have 16 MiB, all pods together 256 MiB and one MiB each. Default: files are handed over as values.
   */
  readonly podFilesFolder?: string;
  /**
   * The node's API, as a kubelet has it: `kubectl logs`, `exec`, `attach`, `port-forward` and `top` reach the provider's methods over it.
   * The cluster is told of its port. Default: none is served.
   */
  readonly server?: NodeServerOptions;
  /** All metrics of the agent in the text format of Prometheus, for `/metrics` of the node's API. Default: no text. */
  readonly metricsText?: () => string | Promise<string>;
  /** The apiserver's pods of this namespace alone. Default: of all. */
  readonly namespace?: string;
  /** Where pods come from beside the apiserver, by name: `{ file: new FileSource(...) }`. Static pods get mirror pods. */
  readonly sources?: Readonly<Record<string, PodSource>>;
  /** Default: one of its own. */
  readonly podManager?: BasicPodManager;
  /** What statuses are written with, such as a client that counts. `stop()` leaves it open. Default: one over the transport. */
  readonly podClient?: PodClient;
  /** Asked before a pod begins; one that it refuses is Failed for good, and says why. Default: every pod may run. As `SyncLoop`'s. */
  readonly admitPod?: NonNullable<SyncLoopOptions['admitPod']>;
  /** How often pods are asked about, how long calls may take, how many there are at once, and how long failed ones wait: as `ProviderPodSyncer`'s. */
  readonly pods?: Pick<
    ProviderPodSyncerOptions,
    | 'pollIntervalMs'
    | 'callTimeoutMs'
    | 'changeTimeoutMs'
    | 'missingAfterMs'
    | 'backoffBaseMs'
    | 'backoffMaxMs'
    | 'concurrency'
    | 'rateLimiter'
  >;
  /** How often pods are synced again, and how long they wait after a failure: as `PodWorkers`'s. */
  readonly workers?: Pick<PodWorkersOptions, 'resyncIntervalMs' | 'backOffPeriodMs'>;
  /**
   * How often all pods are looked at, and how long the provider may take to list its pods: as `SyncLoop`'s. Default of
   * `quietHousekeepingIntervalMs`: 15 000, or `housekeepingIntervalMs` where that is given.
   */
  readonly syncLoop?: Pick<SyncLoopOptions, 'housekeepingIntervalMs' | 'quietHousekeepingIntervalMs' | 'listTimeoutMs'>;
  /** How the apiserver's pods are read: as `ApiServerSource`'s. */
  readonly apiServerSource?: Pick<ApiServerSourceOptions, 'streamLists' | 'idleTimeoutMs'>;
  /** As `MirrorPodReconciler`'s. */
  readonly mirrorPods?: Pick<MirrorPodReconcilerOptions, 'handlers' | 'concurrency' | 'requestTimeoutMs'>;
  /** How statuses are written: as `StatusManager`'s. */
  readonly statusManager?: Partial<
    Omit<StatusManagerOptions, 'podClient' | 'podManager' | 'podDeletionSafety' | 'podSource' | SharedOption>
  >;
  /** Default: events are written to the apiserver. */
  readonly eventRecorder?: EventRecorder;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /**
   * Goes to every part: `createPrometheusMetrics` of `pod-status-manager/prometheus` makes one, `createOpenTelemetryMetrics` of
   * `pod-status-manager/opentelemetry` another. Default: nothing is measured.
   */
  readonly metrics?: MetricsSink;
}

type Given<Part extends keyof ProviderNodeOptions> = NonNullable<ProviderNodeOptions[Part]>;

/** What goes on to each part. */
const partOptions = {
  pods: namesOf<Given<'pods'>>({
    pollIntervalMs: true,
    callTimeoutMs: true,
    changeTimeoutMs: true,
    missingAfterMs: true,
    backoffBaseMs: true,
    backoffMaxMs: true,
    concurrency: true,
    rateLimiter: true,
  }),
  workers: namesOf<Given<'workers'>>({ resyncIntervalMs: true, backOffPeriodMs: true }),
  syncLoop: namesOf<Given<'syncLoop'>>({ housekeepingIntervalMs: true, quietHousekeepingIntervalMs: true, listTimeoutMs: true }),
  apiServerSource: namesOf<Given<'apiServerSource'>>({ streamLists: true, idleTimeoutMs: true }),
  mirrorPods: namesOf<Given<'mirrorPods'>>({ handlers: true, concurrency: true, requestTimeoutMs: true }),
};

const nodeMembers = namesOf<NodeMembers>({
  capacity: true,
  allocatable: true,
  addresses: true,
  nodeInfo: true,
  daemonEndpoints: true,
  images: true,
  features: true,
  runtimeHandlers: true,
  declaredFeatures: true,
  volumesInUse: true,
  labels: true,
  annotations: true,
  taints: true,
  providerID: true,
  readiness: true,
  pressures: true,
  registerNode: true,
  removeOnStop: true,
  statusUpdateFrequencyMs: true,
  statusReportFrequencyMs: true,
  leaseDurationSeconds: true,
  holderIdentity: true,
  isSoleAgent: true,
  requestTimeoutMs: true,
});

const knownOptions = [
  ...nodeMembers,
  ...namesOf<Omit<ProviderNodeOptions, keyof NodeMembers>>({
    kubeConfig: true,
    transport: true,
    sharedWatches: true,
    nodeName: true,
    provider: true,
    rawPods: true,
    podFilesFolder: true,
    server: true,
    metricsText: true,
    namespace: true,
    sources: true,
    podManager: true,
    podClient: true,
    admitPod: true,
    pods: true,
    workers: true,
    syncLoop: true,
    apiServerSource: true,
    mirrorPods: true,
    statusManager: true,
    eventRecorder: true,
    random: true,
    clock: true,
    logger: true,
    metrics: true,
  }),
];

/** More than most providers have: the scheduler is not to be what limits a virtual node. */
const defaultCapacity = { cpu: '1000', memory: '4000Gi', pods: '1000' };
/** As virtual-kubelet's, so that the tolerations that users have go on to work. */
const defaultTaints = [{ key: 'virtual-kubelet.io/provider', value: 'pod-status-manager', effect: 'NoSchedule' }];

export interface ResolvedProviderOptions {
  readonly given: ProviderNodeOptions;
  readonly node: NodeMembers & Pick<NodeObjectOptions, 'capacity'>;
  readonly sources: readonly (readonly [name: string, source: PodSource])[];
  readonly podManager: BasicPodManager;
  readonly hostIPs: readonly string[];
  /** Those that are given, for each part. */
  readonly shared: Pick<NodeObjectOptions, 'random' | 'clock' | 'metrics'> & { readonly logger: Logger };
  /** Those of `shared` for a part that takes no random numbers. */
  readonly timed: Omit<ResolvedProviderOptions['shared'], 'random' | 'metrics'>;
  /** The same with the metrics. */
  readonly measured: Omit<ResolvedProviderOptions['shared'], 'random'>;
  /** Which pods of the apiserver are the node's. */
  readonly selection: Pick<ProviderNodeOptions, 'nodeName' | 'namespace'>;
  /** How the node's API is served; undefined: not at all. */
  readonly server: ResolvedServer | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value; what belongs to a part is checked by the part. */
export function resolveProviderOptions(options: ProviderNodeOptions): ResolvedProviderOptions {
  requireKnownOptions('options', options, knownOptions);
  const { kubeConfig, transport, provider, sources = {}, podManager = new BasicPodManager(), random, clock, metrics } = options;
  const logger = loggerOption(options.logger);
  requireProvider(provider);
  if ((kubeConfig === undefined) === (transport === undefined)) {
    throw invalidOption('kubeConfig', 'given, or else `transport`, and not both', kubeConfig);
  }
  if (transport !== undefined) requireMethods('transport', transport, ['request', 'stream']);
  metricsOption(metrics);
  if (clock !== undefined) requireMethods('clock', clock, ['now', 'setTimer']);
  for (const part of Object.keys(partOptions) as (keyof typeof partOptions)[]) {
    requireKnownOptions(part, options[part] ?? {}, partOptions[part]);
  }
  if (options.rawPods !== undefined) optionOfType('rawPods', options.rawPods, 'boolean');
  requireFilesFolder(options.podFilesFolder, options.rawPods !== true, '`rawPods` being false');
  if (options.metricsText !== undefined) optionOfType('metricsText', options.metricsText, 'function');
  if (options.readiness !== undefined) optionOfType('readiness', options.readiness, 'function');
  if (options.podClient !== undefined) requireMethods('podClient', options.podClient, ['getPod', 'patchPodStatus', 'deletePod']);
  refuseOwn(options.statusManager);
  requireSharedWatches(options);
  const members = nodeMembers.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]);
  const node: NodeMembers = Object.fromEntries(members);
  // a clock that each part made safe for itself would cost each node a dozen of them
  const timed = { ...(clock !== undefined && { clock: safeClock(clock) }), logger };
  const measured = { ...timed, ...(metrics !== undefined && { metrics }) };
  return {
    given: options,
    node: { taints: defaultTaints, ...node, capacity: node.capacity ?? defaultCapacity },
    sources: sourcesOf(sources),
    podManager,
    hostIPs: (options.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address),
    shared: { ...measured, ...(random !== undefined && { random }) },
    timed,
    measured,
    selection: { nodeName: options.nodeName, ...(options.namespace !== undefined && { namespace: options.namespace }) },
    server: options.server && resolveServer(options.server),
    clock: clock ?? systemClock,
    logger,
  };
}

/** The names of all members of a type: a record without one of them does not compile. */
function namesOf<T>(members: Readonly<Record<keyof T, true>>): (keyof T & string)[] {
  return Object.keys(members) as (keyof T & string)[];
}

/** The node gives its status manager these itself. */
function refuseOwn(statusManager: ProviderNodeOptions['statusManager']): void {
  if (statusManager === undefined) return;
  for (const name of ['podClient', 'podManager', 'podDeletionSafety', 'podSource', 'random', 'clock', 'logger', 'metrics']) {
    if (name in statusManager) throw invalidOption(`statusManager.${name}`, 'absent: the node gives it', 'given');
  }
}

function requireSharedWatches({ sharedWatches, namespace }: ProviderNodeOptions): void {
  if (sharedWatches === undefined) return;
  requireMethods('sharedWatches', sharedWatches, ['podsOf', 'nodeOf']);
  if (namespace !== undefined)
    throw invalidOption('namespace', 'absent beside `sharedWatches`, which are of all namespaces', namespace);
}

function sourcesOf(sources: Readonly<Record<string, PodSource>>): [string, PodSource][] {
  if (typeof sources !== 'object' || sources === null || Array.isArray(sources)) {
    throw invalidOption('sources', 'an object of pod sources by name', sources);
  }
  return Object.entries(sources).map(([name, source]) => {
    if (name === apiserverSource || name === '') throw invalidOption('sources', `an object without the name "${name}"`, name);
    requireMethods(`sources.${name}`, source, ['start', 'stop']);
    return [name, source];
  });
}
