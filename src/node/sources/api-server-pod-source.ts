import type { Pod, WirePod } from '../../api/json/types.ts';
import { apiserverSource } from '../../api/pod/pod-identity.ts';
import { type Clock, safeClock, systemClock } from '../../base/clock.ts';
import {
  awaitStart,
  type LastFailure,
  RunState,
  type RunStateName,
  requireStartOptions,
  type StartOptions,
} from '../../base/concurrency/run-state.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { type Logger, loggerOption, withFields } from '../../base/logging/logger.ts';
import type { MetricsSink } from '../../base/metrics/metrics.ts';
import { nodeNameOption } from '../../base/names.ts';
import { requireHandlers, requireKnownOptions, requireMethods } from '../../base/options.ts';
import type { ClientConfig } from '../../client/kubeconfig/client-config.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { awaitedAnswer } from '../../client/resources/resource-client.ts';
import type { KubeTransport } from '../../client/transport/kube-transport.ts';
import { PodDelivery, type PodSink, type PodSourceHandlers } from './pod-delivery.ts';
import { receivedPod } from './pod-source.ts';

/** Which pods are read, from where, and into what. */
export interface ApiServerPodSourceOptions {
  /** The server to ask. One of this and `transport` is needed. */
  readonly kubeConfig?: ClientConfig;
  /** A transport shared with a client; `stop()` leaves it open. */
  readonly transport?: KubeTransport;
  /** The node whose pods are read: those with this `spec.nodeName`. */
  readonly nodeName: string;
  /** Default: all namespaces. */
  readonly namespace?: string;
  /** Gets the pods. A `BasicPodManager` is one. */
  readonly podManager: PodSink;
  /** Told of each change, after the pod manager. */
  readonly handlers?: PodSourceHandlers;
  /** Asks for full lists as streams, and for ordinary lists where the server has none. Default true. */
  readonly streamLists?: boolean;
  /** A watch that brings nothing for this long counts as dead. Default 150 000: the first bookmark of a quiet watch takes the apiserver two minutes. */
  readonly idleTimeoutMs?: number;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** Gets what `metricDefinitions` lists for the part Reflector, under the name `pods`. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
}

const knownOptions = [
  ...['kubeConfig', 'transport', 'nodeName', 'namespace', 'podManager', 'handlers', 'streamLists', 'idleTimeoutMs'],
  ...['random', 'clock', 'logger', 'metrics'],
];
const handlerNames = ['podAdded', 'podUpdated', 'podDeleted', 'synced', 'interrupted'];

/**
 * The pods of one node, as the apiserver has them: listed, then watched, into a pod manager. Each pod that it hands on has
 * the config source `api`, whatever its annotations say on the server. Goes on through whatever the network and the server
 * do, until `stop()`. What happened while it was cut off is found afterwards: a full list is the truth, also when it shows
 * older resourceVersions than before, as after a restore of etcd.
 *
 * @example
 * ```ts with-server
 * import { ApiServerPodSource, BasicPodManager } from 'pod-status-manager';
 *
 * server.store.create({ metadata: { name: 'web' }, spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:1' }] } });
 * const podManager = new BasicPodManager();
 * const source = new ApiServerPodSource({ kubeConfig, nodeName: 'node-1', podManager });
 * await source.start(); // the first list is in the pod manager
 * console.log(podManager.getPods().length); // 1
 * await source.stop();
 * ```
 */
export class ApiServerPodSource {
  readonly #reflector: Reflector<WirePod>;
  readonly #delivery: PodDelivery;
  readonly #nodeName: string;
  readonly #clock: Clock;
  readonly #namespace: string | undefined;
  readonly #firstList = Promise.withResolvers<void>();
  readonly #runState = new RunState('pod source');
  #lastListedAt: number | undefined;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: ApiServerPodSourceOptions) {
    requireKnownOptions('options', options, knownOptions);
    const { nodeName, podManager, handlers = {}, ...reading } = options;
    const logger = loggerOption(reading.logger);
    this.#nodeName = nodeNameOption(nodeName);
    requireMethods('podManager', podManager, ['addPod', 'updatePod', 'removePod']);
    requireHandlers(handlers, handlerNames);
    this.#namespace = reading.namespace;
    this.#clock = safeClock(reading.clock ?? systemClock);
    const delivery = new PodDelivery(podManager, handlers, logger);
    this.#delivery = delivery;
    this.#reflector = new Reflector({
      ...reading,
      logger: withFields(logger, { source: apiserverSource, node: nodeName }),
      resource: resources.pods,
      fieldSelector: `spec.nodeName=${nodeName}`,
      transform: receivedPod,
      // its pods belong to the agent, which may change them
      shareEqualParts: false,
      handlers: {
        added: (pod) => delivery.added(pod),
        updated: (pod, previous) => delivery.updated(pod, previous),
        deleted: (pod) => delivery.deleted(pod),
        synced: () => this.#synced(),
        interrupted: (error, delayMs) => delivery.interrupted(error, delayMs),
      },
    });
    // stop() rejects it, also when no caller awaits start()
    this.#firstList.promise.catch(() => {});
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /**
   * Resolves once the first list has been delivered; a list that fails is tried again. Rejects with ERR_ALREADY_STARTED, with
   * ERR_STOPPED when the source is stopped before that, with ERR_INVALID_OPTION, and with the reason of a signal that had
   * aborted before; then nothing is started. Rejects with ERR_START_TIMEOUT after `timeoutMs`, saying in words what the server
   * answered, and with the signal's reason; then the source goes on trying, and `stop()` ends it.
   */
  start(options: StartOptions = {}): Promise<void> {
    try {
      requireStartOptions(options);
      this.#runState.start();
    } catch (error) {
      return Promise.reject(error);
    }
    // this source has a promise of its own, which says what was stopped
    this.#reflector.start().catch(() => {});
    const waitsFor = () => awaitedAnswer('the pods are not listed', this.lastFailure());
    return awaitStart(this.#firstList.promise, options, { owner: 'pod source', clock: this.#clock, waitsFor });
  }

  /** Ends the watch. When it resolves, there is no timer and no socket left, and no callback comes any more. */
  stop(): Promise<void> {
    return this.#runState.stop(() => {
      this.#firstList.reject(new StatusManagerError('ERR_STOPPED', 'The pod source was stopped before its first list'));
      return this.#reflector.stop();
    });
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** When the server was last heard from (a list, an event, a bookmark), in milliseconds since the epoch. */
  lastObservedAt(): number | undefined {
    return this.#reflector.lastObservedAt();
  }

  /** Why the pods could not be read last; undefined once the server was heard from again, and before any failure. */
  lastFailure(): LastFailure | undefined {
    return this.#reflector.lastFailure();
  }

  /**
   * When the last full list that was delivered began, by the source's clock, in milliseconds since the epoch; undefined
   * before the first. A list is a consistent read: it shows every write that was acknowledged before it began.
   */
  lastListedAt(): number | undefined {
    return this.#lastListedAt;
  }

  #synced(): void {
    this.#delivery.listed((pod) => this.#isFromTheServer(pod));
    this.#lastListedAt = this.#reflector.lastListedAt();
    this.#delivery.synced(this.#reflector.store.list());
    this.#firstList.resolve();
  }

  /** True for a pod that belongs to this source's selection and came from a server: a static pod has no resourceVersion. */
  #isFromTheServer({ metadata, spec }: Pod): boolean {
    const selected =
      spec?.nodeName === this.#nodeName && (this.#namespace === undefined || metadata?.namespace === this.#namespace);
    return selected && Boolean(metadata?.resourceVersion);
  }
}
