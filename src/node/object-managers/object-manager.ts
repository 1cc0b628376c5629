import type { V1Node } from '@kubernetes/client-node';
import type { Loose, Pod } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidOption, isStatusManagerError, type StatusManagerError } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type Metrics, type MetricsSink, metricsOption } from '../../base/metrics/metrics.ts';
import {
  longestTimerMs,
  numberOption,
  oneOfOption,
  optionOfType,
  requireKnownOptions,
  requireMethods,
} from '../../base/options.ts';
import { safeRandom } from '../../base/random.ts';
import type { ClientConfig } from '../../client/kubeconfig/client-config.ts';
import type { ApiResource } from '../../client/resources/api-resource.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import { KubeTransport } from '../../client/transport/kube-transport.ts';
import { CachedObjects } from './cached-objects.ts';
import { DirectObjects } from './direct-objects.ts';
import { countsOption, type ObjectBudget, type ObjectCounts } from './object-budget.ts';
import { type NamespacedName, requireObjectName, stopped } from './object-errors.ts';
import type { Frozen, ObjectReader } from './object-reader.ts';
import { RegisteredPods } from './registered-pods.ts';
import type { MaybeImmutable } from './watched-object.ts';
import { WatchedObjects } from './watched-objects.ts';

/** What there is one manager for. */
export interface ManagedResource<T extends MaybeImmutable> {
  readonly resource: ApiResource<T>;
  /** The names of the objects that a pod refers to. */
  readonly namesOf: (pod: Pod) => ReadonlySet<string>;
  /** Of the manager, in errors. */
  readonly owner: string;
}

/** What a manager of secrets and one of config maps have in common: pods, a strategy, and an end. */
export class ObjectManager<T extends MaybeImmutable> {
  readonly #owner: string;
  readonly #logger: Logger;
  readonly #reader: ObjectReader<T>;
  readonly #pods: RegisteredPods;
  /** Closed by `stop()`; undefined where the transport is the caller's. */
  readonly #ownTransport: KubeTransport | undefined;
  readonly #reads = new Set<Promise<T>>();
  #stopped: Promise<void> | undefined;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor({ resource, namesOf, owner }: ManagedResource<T>, options: ObjectManagerOptions) {
    const checked = checkedOptions(options);
    const { kubeConfig, clock, logger, strategy } = checked;
    this.#ownTransport = kubeConfig && new KubeTransport(kubeConfig, { clock, logger });
    const transport = checked.transport ?? (this.#ownTransport as KubeTransport);
    const client = new ResourceClient(transport, resource);
    if (strategy === 'watch') this.#reader = new WatchedObjects<T>({ ...checked, transport, resource });
    else if (strategy === 'cache') this.#reader = new CachedObjects(client, checked);
    else this.#reader = new DirectObjects(client, checked.budget);
    this.#owner = owner;
    this.#logger = logger;
    this.#pods = new RegisteredPods(namesOf, this.#reader, checked.budget);
  }

  async get(object: NamespacedName): Promise<Frozen<T>> {
    if (this.#stopped !== undefined) throw stopped(this.#owner);
    requireObjectName(object);
    const read = this.#reader.get(object);
    this.#reads.add(read);
    try {
      return (await read) as Frozen<T>;
    } catch (error) {
      // the request was given up
      if (this.#stopped !== undefined) throw stopped(this.#owner);
      throw (isStatusManagerError(error, 'ERR_NOT_REGISTERED') && this.#pods.refusalIn(object.namespace)) || error;
    } finally {
      this.#reads.delete(read);
    }
  }

  register(pod: Pod): void {
    if (this.#stopped !== undefined) throw stopped(this.#owner);
    const isRefused = this.#pods.refusalOf(pod) !== undefined;
    const err = this.#pods.register(pod);
    if (err === undefined || isRefused) return;
    this.#logger.warn({ err, ...podFields(pod.metadata) }, 'a pod names too many objects: none of them is read for it');
  }

  refusalOf(pod: Pod): StatusManagerError | undefined {
    return this.#pods.refusalOf(pod);
  }

  unregister(pod: Pod): void {
    this.#pods.unregister(pod);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#pods.clear();
    await Promise.allSettled([this.#reader.stop(), ...this.#reads]);
    await this.#ownTransport?.close();
  }
}

/**
 * How objects are read. `watch`: one watch an object, while registered pods name it. `cache`: a request when an object is
 * read, at most one in `ttlMs`. `get`: a request for the newest version at every read, registered or not.
 */
export type ObjectStrategy = 'watch' | 'cache' | 'get';

/** How a {@link SecretManager} or a {@link ConfigMapManager} reads. */
export interface ObjectManagerOptions {
  /** The server to ask. One of this and `transport` is needed. */
  readonly kubeConfig?: ClientConfig;
  /** A transport shared with others; `stop()` leaves it open. */
  readonly transport?: ResourceTransport;
  /** Default `watch`, as the kubelet's. */
  readonly strategy?: ObjectStrategy;
  /** Strategy `cache`: how long an object is served without a request, in milliseconds. Default 60 000. */
  readonly ttlMs?: number;
  /**
   * Strategy `cache`: asked at every read, and used in place of `ttlMs` unless it is undefined. With {@link nodeTtlMs} the
   * node's annotation says it.
   */
  readonly getTtlMs?: () => number | undefined;
  /**
   * Strategy `watch`: how often the agent reads what its pods have mounted, in milliseconds. What is not read for five times
   * as long, and for a minute at least, is not watched until it is read again. Default 60 000.
   */
  readonly resyncIntervalMs?: number;
  /** Strategy `watch`: how long a read waits for the first list of a watch, in milliseconds. Default 1000. */
  readonly syncTimeoutMs?: number;
  /** Strategy `watch`: lists are asked for as streams, and as ordinary lists where the server has none. Default true. */
  readonly streamLists?: boolean;
  /** What pods may make the manager hold, as {@link objectBudget} makes it. Default: one of its own. */
  readonly budget?: ObjectBudget;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Gets names, never values. Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** Gets numbers, never names. */
  readonly metrics?: MetricsSink;
}

export interface CheckedObjectManagerOptions {
  /** Undefined where there is a transport. */
  readonly kubeConfig: ClientConfig | undefined;
  readonly transport: ResourceTransport | undefined;
  readonly strategy: ObjectStrategy;
  readonly ttlMs: () => number;
  readonly resyncIntervalMs: number;
  readonly syncTimeoutMs: number;
  readonly streamLists: boolean;
  readonly budget: ObjectCounts;
  readonly random: () => number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

const knownOptions = [
  ...['kubeConfig', 'transport', 'strategy', 'ttlMs', 'getTtlMs', 'resyncIntervalMs', 'syncTimeoutMs', 'streamLists'],
  ...['budget', 'random', 'clock', 'logger', 'metrics'],
];

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
function checkedOptions(options: ObjectManagerOptions): CheckedObjectManagerOptions {
  requireKnownOptions('options', options, knownOptions);
  const { kubeConfig, transport, strategy = 'watch', ttlMs = 60_000, getTtlMs = () => undefined } = options;
  const { resyncIntervalMs = 60_000, syncTimeoutMs = 1000, streamLists = true } = options;
  const { budget, random = Math.random, clock = systemClock, logger, metrics } = options;
  if (transport !== undefined) requireMethods('transport', transport, ['request', 'stream']);
  else if (kubeConfig === undefined) throw invalidOption('kubeConfig', 'given, where `transport` is not', kubeConfig);
  requireMethods('clock', clock, ['now', 'setTimer']);
  numberOption('ttlMs', ttlMs, 0, Number.MAX_SAFE_INTEGER);
  optionOfType('getTtlMs', getTtlMs, 'function');
  return {
    kubeConfig: transport === undefined ? kubeConfig : undefined,
    transport,
    strategy: oneOfOption('strategy', strategy, ['watch', 'cache', 'get']),
    ttlMs: () => askedTtlMs(getTtlMs) ?? ttlMs,
    resyncIntervalMs: numberOption('resyncIntervalMs', resyncIntervalMs, 0, Number.MAX_SAFE_INTEGER),
    syncTimeoutMs: numberOption('syncTimeoutMs', syncTimeoutMs, 0, longestTimerMs),
    streamLists: optionOfType('streamLists', streamLists, 'boolean'),
    budget: countsOption(budget),
    random: safeRandom(optionOfType('random', random, 'function')),
    clock: safeClock(clock),
    logger: loggerOption(logger),
    metrics: metricsOption(metrics),
  };
}

/** Undefined where the agent does not know, and for anything that is no time. */
function askedTtlMs(getTtlMs: () => number | undefined): number | undefined {
  const ttlMs = callGuarded(getTtlMs, ignoreFailure);
  return typeof ttlMs === 'number' && !Number.isNaN(ttlMs) ? ttlMs : undefined;
}

/** Set by the node controller: the larger the cluster, the longer the time in seconds. */
const ttlAnnotationKey = 'node.alpha.kubernetes.io/ttl';

/**
 * How long the cluster wants this node to cache secrets and config maps, in milliseconds, for the option `getTtlMs`;
 * undefined when the node does not say it in whole seconds.
 *
 * @example
 * ```ts
 * import { nodeTtlMs } from 'pod-status-manager/object-managers';
 *
 * console.log(nodeTtlMs({ metadata: { annotations: { 'node.alpha.kubernetes.io/ttl': '15' } } })); // 15000
 * ```
 */
export function nodeTtlMs(node: Loose<V1Node> | undefined): number | undefined {
  const annotations = node?.metadata?.annotations;
  const seconds = annotations != null && Object.hasOwn(annotations, ttlAnnotationKey) ? annotations[ttlAnnotationKey] : undefined;
  return typeof seconds === 'string' && /^[+-]?\d{1,15}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}
