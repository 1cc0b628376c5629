import type { WirePod } from '../../api/json/types.ts';
import { apiserverSource } from '../../api/pod/pod-identity.ts';
import type { Clock } from '../../base/clock.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { type LastFailure, RunState, type RunStateName } from '../../base/concurrency/run-state.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { type Logger, loggerOption, withFields } from '../../base/logging/logger.ts';
import type { MetricsSink } from '../../base/metrics/metrics.ts';
import { nodeNameOption } from '../../base/names.ts';
import { requireKnownOptions } from '../../base/options.ts';
import type { ClientConfig } from '../../client/kubeconfig/client-config.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import { resources } from '../../client/resources/api-resource.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { PodBudget, type PodBudgetOptions } from './pod-budget.ts';
import type { PodSource, SendPods } from './pod-source.ts';

/** Which pods are read, and how. `nodeName` and one of `kubeConfig` and `transport` are needed. */
export interface ApiServerSourceOptions {
  /** The server to ask. One of this and `transport` is needed. */
  readonly kubeConfig?: ClientConfig;
  /** A transport shared with a client; `stop()` leaves it open. */
  readonly transport?: ResourceTransport;
  /** Pods with this `spec.nodeName` are read. */
  readonly nodeName: string;
  /** Default: all namespaces. */
  readonly namespace?: string;
  /** What the pods may take of memory; a pod that takes more is sent in outline, without containers. Default: as much as they are. */
  readonly podBudget?: PodBudgetOptions;
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
  ...['kubeConfig', 'transport', 'nodeName', 'namespace', 'podBudget', 'streamLists', 'idleTimeoutMs'],
  ...['random', 'clock', 'logger', 'metrics'],
];

/**
 * The pods of one node, as the apiserver has them: listed, then watched, and sent as full lists. Sends nothing before its
 * first list, then one list after each further one, and at most one in a turn of the event loop for what the watch brings. Goes on
 * through whatever the network and the server do, until `stop()`.
 *
 * @example
 * ```ts with-server
 * import { ApiServerSource } from 'pod-status-manager/node';
 *
 * server.store.create({ metadata: { name: 'web' }, spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:1' }] } });
 * const source = new ApiServerSource({ kubeConfig, nodeName: 'node-1' });
 * const names = await new Promise((resolve) => source.start((pods) => resolve(pods.map(({ metadata }) => metadata?.name))));
 * console.log(names); // [ 'web' ]
 * await source.stop();
 * ```
 */
export class ApiServerSource implements PodSource {
  readonly #reflector: Reflector<WirePod>;
  readonly #budget: PodBudget | undefined;
  readonly #runState = new RunState('pod source');
  #send: SendPods | undefined;
  /** Set while a list is due at the end of the turn. */
  #due: NodeJS.Immediate | undefined;
  #lastListedAt: number | undefined;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: ApiServerSourceOptions) {
    requireKnownOptions('options', options, knownOptions);
    const { nodeName, podBudget, ...reading } = options;
    const budget = podBudget && new PodBudget(podBudget);
    this.#budget = budget;
    const changed = (): void => this.#changed();
    const deleted = ({ metadata }: WirePod): void => {
      budget?.forget(metadata?.uid ?? '');
      changed();
    };
    // a pod that was made again under its name is another one
    const updated = ({ metadata }: WirePod, previous: WirePod): void =>
      metadata?.uid === previous.metadata?.uid ? changed() : deleted(previous);
    this.#reflector = new Reflector<WirePod>({
      ...reading,
      logger: withFields(loggerOption(reading.logger), { source: apiserverSource, node: nodeName }),
      resource: resources.pods,
      ...(budget !== undefined && {
        transform: (pod: WirePod) => budget.keep(pod, this.#previous(pod)),
        readEvent: budget.readEvent,
      }),
      fieldSelector: `spec.nodeName=${nodeNameOption(nodeName)}`,
      handlers: {
        added: changed,
        updated,
        deleted,
        synced: () => this.#synced(),
      },
    });
  }

  /** Why a pod is sent in outline: it takes more memory than `podBudget` has for it. Undefined for every other pod. */
  refusal(podUID: string): string | undefined {
    return this.#budget?.refusal(podUID);
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /** Throws ERR_ALREADY_STARTED, ERR_STOPPED. */
  start(send: SendPods): void {
    this.#runState.start();
    this.#send = send;
    // rejects when the source is stopped before its first list
    this.#reflector.start().catch(() => {});
  }

  /** Ends the watch. When it resolves, there is no timer and no socket left, and nothing is sent any more. */
  stop(): Promise<void> {
    return this.#runState.stop(() => {
      this.#send = undefined;
      clearImmediate(this.#due);
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
   * When the last full list that was sent began, by the source's clock, in milliseconds since the epoch; undefined before the
   * first. A list is a consistent read: it shows every write that was acknowledged before it began.
   */
  lastListedAt(): number | undefined {
    return this.#lastListedAt;
  }

  #previous({ metadata }: WirePod): WirePod | undefined {
    const known = this.#reflector.store.get(metadata?.namespace, metadata?.name ?? '');
    return known?.metadata?.uid === metadata?.uid ? known : undefined;
  }

  #synced(): void {
    this.#sendNow();
    this.#lastListedAt = this.#reflector.lastListedAt();
  }

  /** Something of the store has changed. A burst of changes is sent as one list, after the events that have come already. */
  #changed(): void {
    this.#due ??= setImmediate(() => this.#sendNow());
  }

  #sendNow(): void {
    clearImmediate(this.#due);
    this.#due = undefined;
    this.#send?.(this.#reflector.store.list());
  }
}

type ListedSource = Pick<ApiServerSource, 'lastListedAt' | 'lastObservedAt' | 'lastFailure'>;

/**
 * What the apiserver's source has said, as far as the pod manager knows it: a full list counts once the sync loop has handled
 * all that it changed. Until then a pod that it shows may not be in the pod manager.
 */
export class HandledSource {
  readonly #source: ListedSource;
  readonly #firstList = Promise.withResolvers<void>();
  #handledAt: number | undefined;

  constructor(source: ListedSource) {
    this.#source = source;
    // stop() rejects it, also when no caller waits
    this.#firstList.promise.catch(() => {});
  }

  lastListedAt(): number | undefined {
    return this.#handledAt;
  }

  lastObservedAt(): number | undefined {
    return this.#source.lastObservedAt();
  }

  /** Why the last request for the pods failed; undefined once one succeeds. */
  failure(): unknown {
    return this.#source.lastFailure()?.error;
  }

  /** The sync loop has handled every update so far. */
  noteCaughtUp(): void {
    this.#handledAt = this.#source.lastListedAt();
    if (this.#handledAt !== undefined) this.#firstList.resolve();
  }

  /** Resolves once the first list has been handled. */
  firstList(): Promise<void> {
    return this.#firstList.promise;
  }

  giveUp(error: Error): void {
    this.#firstList.reject(error);
  }
}

// Behaviour of NewSourceApiserver in pkg/kubelet/config/apiserver.go, v1.36.3.

type ReadSource = Pick<ApiServerSource, 'start' | 'stop' | 'lastObservedAt' | 'lastFailure'>;

/** A source of pods that asks for nothing before `ready` has resolved. Where that rejects, it never asks. */
export class LateSource implements PodSource {
  readonly #source: ReadSource;
  readonly #ready: () => Promise<void>;
  readonly #stopping = new AbortController();
  #start: Promise<void> = Promise.resolve();

  constructor(source: ReadSource, ready: () => Promise<void>) {
    this.#source = source;
    this.#ready = ready;
  }

  start(send: SendPods): void {
    this.#start = untilAborted(this.#ready(), this.#stopping.signal).then(() => this.#source.start(send), ignoreFailure);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#start;
    await this.#source.stop();
  }

  lastObservedAt(): number | undefined {
    return this.#source.lastObservedAt();
  }

  lastFailure(): LastFailure | undefined {
    return this.#source.lastFailure();
  }
}
