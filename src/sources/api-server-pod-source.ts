import type { KubeConfig } from '@kubernetes/client-node';
import { longestTimerMs, numberOption, optionOfType, requireKnownOptions, requireMethods } from '../checks/options.ts';
import { podsPath } from '../client/pod-path.ts';
import { ApiError } from '../client/transport/api-error.ts';
import { KubeTransport, type KubeTransportOptions } from '../client/transport/kube-transport.ts';
import { Backoff } from '../concurrency/retry.ts';
import { RunState, type RunStateName } from '../concurrency/run-state.ts';
import { invalidOption, StatusManagerError } from '../errors.ts';
import { type Clock, sleep, systemClock } from '../seams/clock.ts';
import { type Logger, safeLogger, silentLogger } from '../seams/logger.ts';
import { safeRandom } from '../seams/random.ts';
import type { Pod } from '../wire/types.ts';
import { isRefusal, mayGoOnAfter } from './ended-watch.ts';
import { listPods, type PodSelection } from './list-pods.ts';
import { PodDelivery, type PodSink, type PodSourceHandlers } from './pod-delivery.ts';
import { type WatchEvent, type WatchPodsOptions, watchPods } from './watch-pods.ts';

export interface ApiServerPodSourceOptions {
  /** The server to ask. One of this and `transport` is needed. */
  readonly kubeConfig?: KubeConfig;
  /** A transport shared with a client; `stop()` leaves it open. */
  readonly transport?: KubeTransport;
  readonly nodeName: string;
  /** Default: all namespaces. */
  readonly namespace?: string;
  readonly podManager: PodSink;
  readonly handlers?: PodSourceHandlers;
  /** A watch that brings nothing for this long counts as dead. Default 150 000: the first bookmark of a quiet watch takes the apiserver two minutes. */
  readonly idleTimeoutMs?: number;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/** A watch that ends sooner counts as failed: a server that ends every watch at once is then asked with growing pauses. */
const shortestGoodWatchMs = 1000;
const backoffLimits = { baseMs: 500, capMs: 30_000 };
const knownOptions = 'kubeConfig transport nodeName namespace podManager handlers idleTimeoutMs random clock logger'.split(' ');
const nodeNameRule = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/**
 * The pods of one node, as the apiserver has them: listed, then watched, into a pod manager. Each pod that it hands on has
 * the config source `api`, whatever its annotations say on the server. Goes on through whatever the network and the server
 * do, until `stop()`. What happened while it was cut off is found afterwards: a full list is the truth, also when it shows
 * older resourceVersions than before, as after a restore of etcd.
 */
export class ApiServerPodSource {
  readonly #transport: KubeTransport;
  readonly #ownsTransport: boolean;
  readonly #selection: PodSelection;
  readonly #delivery: PodDelivery;
  readonly #idleTimeoutMs: number;
  readonly #random: () => number;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  readonly #firstList = Promise.withResolvers<void>();
  readonly #runState = new RunState('pod source');
  #loop: Promise<void> | undefined;
  #lastObservedAt: number | undefined;
  #lastListedAt: number | undefined;
  /** Where the next watch goes on; undefined when a list has to come first. */
  #resourceVersion: string | undefined;
  /** Watches in a row that brought nothing, since the last list. */
  #emptyWatches = 0;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: ApiServerPodSourceOptions) {
    requireKnownOptions('options', options, knownOptions);
    const { kubeConfig, transport, nodeName, namespace, podManager, handlers = {}, idleTimeoutMs = 150_000 } = options;
    const { random = Math.random, clock = systemClock, logger = silentLogger } = options;
    if (typeof nodeName !== 'string' || !nodeNameRule.test(nodeName))
      throw invalidOption('nodeName', 'the name of a node', nodeName);
    requireMethods('podManager', podManager, ['addPod', 'updatePod', 'removePod']);
    if (transport !== undefined) requireMethods('transport', transport, ['request', 'stream']);
    numberOption('idleTimeoutMs', idleTimeoutMs, 1000, longestTimerMs);
    this.#selection = { path: podsPath(namespace), nodeName, namespace };
    this.#logger = safeLogger(logger);
    this.#delivery = new PodDelivery(podManager, handlers, this.#logger);
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#random = safeRandom(optionOfType('random', random, 'function'));
    this.#clock = clock;
    this.#ownsTransport = transport === undefined;
    this.#transport = transport ?? ownTransport(kubeConfig, { connections: 1, clock, logger });
    // stop() rejects it, also when no caller awaits start()
    this.#firstList.promise.catch(() => {});
  }

  get state(): RunStateName {
    return this.#runState.name;
  }

  /**
   * Resolves once the first list has been delivered; a list that fails is tried again. Rejects with ERR_ALREADY_STARTED, and
   * with ERR_STOPPED when the source is stopped before that.
   */
  start(): Promise<void> {
    try {
      this.#runState.start();
    } catch (error) {
      return Promise.reject(error);
    }
    this.#loop = this.#run(this.#stopping.signal);
    return this.#firstList.promise;
  }

  /** Ends the watch. When it resolves, there is no timer and no socket left, and no callback comes any more. */
  stop(): Promise<void> {
    return this.#runState.stop(() => this.#stop());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** When the server was last heard from (a list, an event, a bookmark), in milliseconds since the epoch. */
  lastObservedAt(): number | undefined {
    return this.#lastObservedAt;
  }

  /**
   * When the last full list that was delivered began, by the source's clock, in milliseconds since the epoch; undefined
   * before the first. A list is a consistent read: it shows every write that was acknowledged before it began.
   */
  lastListedAt(): number | undefined {
    return this.#lastListedAt;
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    this.#firstList.reject(new StatusManagerError('ERR_STOPPED', 'The pod source was stopped before its first list'));
    await this.#loop;
    if (this.#ownsTransport) await this.#transport.close();
  }

  async #run(signal: AbortSignal): Promise<void> {
    // two of them: a list that works must not shorten the waits between watches that do not
    const listBackoff = new Backoff({ ...backoffLimits, random: this.#random });
    const watchBackoff = new Backoff({ ...backoffLimits, random: this.#random });
    while (!signal.aborted) {
      let delayMs: number;
      if (this.#resourceVersion === undefined) delayMs = await this.#list(listBackoff, signal);
      else delayMs = await this.#watch(watchBackoff, this.#resourceVersion, signal);
      if (delayMs > 0) await sleep(this.#clock, delayMs, signal);
    }
  }

  /** True for a pod that belongs to this source's selection and came from a server: a static pod has no resourceVersion. */
  #isFromTheServer({ metadata, spec }: Pod): boolean {
    const { nodeName, namespace } = this.#selection;
    const selected = spec?.nodeName === nodeName && (namespace === undefined || metadata?.namespace === namespace);
    return selected && Boolean(metadata?.resourceVersion);
  }

  /** Resolves to the pause before the next step. */
  async #list(backoff: Backoff, signal: AbortSignal): Promise<number> {
    try {
      const startedAt = this.#clock.now();
      const { pods, resourceVersion } = await listPods(this.#transport, this.#selection, { signal, onPage: this.#observed });
      if (signal.aborted) return 0;
      this.#resourceVersion = resourceVersion;
      this.#emptyWatches = 0;
      if (this.#lastListedAt === undefined) this.#delivery.takeOver(pods, (pod) => this.#isFromTheServer(pod));
      this.#delivery.replace(pods);
      this.#lastListedAt = startedAt;
      this.#delivery.synced(pods);
      backoff.reset();
      this.#firstList.resolve();
      return 0;
    } catch (error) {
      return this.#interrupted(error, backoff, signal);
    }
  }

  /** Resolves to the pause before the next step. */
  async #watch(backoff: Backoff, resourceVersion: string, signal: AbortSignal): Promise<number> {
    const startedAt = this.#clock.now();
    let hasBroughtSomething = false;
    const onEvent = (event: WatchEvent): void => {
      hasBroughtSomething = true;
      this.#onEvent(event);
    };
    const failure = await this.#failureOfWatch({ signal, resourceVersion, onEvent });
    this.#emptyWatches = hasBroughtSomething ? 0 : this.#emptyWatches + 1;
    if (!mayGoOnAfter({ failure, hasBroughtSomething, emptyInARow: this.#emptyWatches })) this.#resourceVersion = undefined;
    const hasWorked = hasBroughtSomething || !isRefusal(failure);
    if (hasWorked && this.#clock.now() - startedAt >= shortestGoodWatchMs) {
      backoff.reset();
      if (failure === undefined) return 0;
    }
    const error = failure ?? new ApiError({ reason: 'Network', message: 'The server ended the watch at once' });
    return this.#interrupted(error, backoff, signal);
  }

  /** Resolves when the watch has ended: to undefined when the server ended it in good order. */
  async #failureOfWatch(options: Pick<WatchPodsOptions, 'signal' | 'resourceVersion' | 'onEvent'>): Promise<unknown> {
    const idleTimeoutMs = this.#idleTimeoutMs;
    const timeoutSeconds = 300 + Math.floor(this.#random() * 300);
    try {
      await watchPods(this.#transport, this.#selection, { ...options, idleTimeoutMs, timeoutSeconds });
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #interrupted(error: unknown, backoff: Backoff, signal: AbortSignal): number {
    if (signal.aborted) return 0;
    const delayMs = backoff.next(error instanceof ApiError ? error.retryAfterMs : undefined);
    this.#logger.warn({ err: error, delayMs, node: this.#selection.nodeName }, 'Listing or watching pods failed');
    this.#delivery.interrupted(error, delayMs);
    return delayMs;
  }

  readonly #observed = (): void => {
    this.#lastObservedAt = this.#clock.now();
  };

  readonly #onEvent = (event: WatchEvent): void => {
    this.#observed();
    this.#resourceVersion = event.resourceVersion;
    if (event.type === 'ADDED' || event.type === 'MODIFIED') this.#delivery.set(event.pod);
    else if (event.type === 'DELETED') this.#delivery.remove(event.pod);
  };
}

function ownTransport(kubeConfig: KubeConfig | undefined, options: KubeTransportOptions): KubeTransport {
  if (kubeConfig === undefined) throw invalidOption('kubeConfig', 'given, where `transport` is not', kubeConfig);
  return new KubeTransport(kubeConfig, options);
}
