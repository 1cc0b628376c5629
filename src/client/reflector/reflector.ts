import type { SteadyClock } from '../../base/clock.ts';
import { LateSet } from '../../base/concurrency/late-collections.ts';
import {
  awaitStart,
  type LastFailure,
  RunState,
  type RunStateName,
  requireStartOptions,
  type StartOptions,
} from '../../base/concurrency/run-state.ts';
import { StatusManagerError } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type ApiObject, resourcePath } from '../resources/api-resource.ts';
import { awaitedAnswer, ResourceClient } from '../resources/resource-client.ts';
import { KubeTransport } from '../transport/kube-transport.ts';
import { ChangeQueue } from './change-queue.ts';
import { type ChangeListener, HandlerCalls } from './handler-calls.ts';
import { LimitedTransport } from './limited-transport.ts';
import { ListWatch, type ListWatchHost, type ReadList } from './list-watch.ts';
import { ObjectDelivery } from './object-delivery.ts';
import { ObjectStore } from './object-store.ts';
import { CachedReads, LatestReads } from './read-plans.ts';
import { ReceivedObjects } from './received-objects.ts';
import { ReflectorMetrics } from './reflector-metrics.ts';
import { checkedOptions, type ReflectorOptions } from './reflector-options.ts';

/**
 * Keeps a store equal to what the apiserver has of one resource, or of a selection of it: listed, then watched. Goes on
 * through whatever the network and the server do, until `stop()`. For one object it never shows an older version after a
 * newer one, except by a consistent full list. Its iterators yield each change; one that lags yields the changes of an
 * object as one. An iterator begins with the objects that the store has, ends at `stop()`, and is freed by `return()`.
 *
 * @example
 * ```ts with-server
 * import { Reflector, resources } from 'pod-status-manager/reflector';
 *
 * server.objects(resources.configMaps).create({ metadata: { name: 'settings', namespace: 'default' }, data: { colour: 'green' } });
 * const reflector = new Reflector({ kubeConfig, resource: resources.configMaps, namespace: 'default' });
 * await reflector.start();
 * console.log(reflector.store.get('default', 'settings')?.data?.colour); // green
 * for await (const { type, object } of reflector) {
 *   console.log(type, object.metadata?.name); // added settings
 *   break; // frees the iterator
 * }
 * await reflector.stop();
 * ```
 */
export class Reflector<T extends ApiObject = ApiObject> {
  /** Shows a change before any handler is told of it. */
  readonly store: ObjectStore<T>;
  /** Closed by `stop()`; undefined where the transport is the caller's. */
  readonly #ownTransport: KubeTransport | undefined;
  readonly #clock: SteadyClock;
  readonly #path: string;
  readonly #logger: Logger;
  readonly #metrics: ReflectorMetrics;
  readonly #listWatch: ListWatch<T>;
  readonly #delivery: ObjectDelivery<T>;
  readonly #handlers: HandlerCalls<T>;
  readonly #listeners = new Set<ChangeListener<T>>();
  readonly #queues = new LateSet<ChangeQueue<T>>();
  readonly #firstList = Promise.withResolvers<void>();
  readonly #runState = new RunState('reflector');
  /** Ends the run under way; undefined while paused. */
  #run: AbortController | undefined;
  #loop: Promise<void> = Promise.resolve();
  #hasSynced = false;
  #lastObservedAt: number | undefined;
  /** The same moment by `Clock.elapsed`. */
  #heardAt: number | undefined;
  #lastListedAt: number | undefined;
  #lastFailure: LastFailure | undefined;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: ReflectorOptions<T>) {
    const checked = checkedOptions(options);
    const { resource, namespace, logger, clock, kubeConfig, store = new ObjectStore<T>() } = checked;
    const path = resourcePath(resource, { namespace });
    this.store = store;
    this.#path = path;
    this.#clock = clock;
    this.#logger = logger;
    this.#metrics = new ReflectorMetrics(checked.metrics, clock, checked.name);
    this.#handlers = new HandlerCalls(checked.handlers, logger);
    this.#listeners.add(this.#handlers);
    this.#delivery = new ObjectDelivery(store, this.#listeners);
    this.#ownTransport = kubeConfig && new KubeTransport(kubeConfig, { connections: 1, clock, logger });
    const { transport = this.#ownTransport, fieldSelector, labelSelector } = checked;
    const limited = new LimitedTransport(transport as NonNullable<typeof transport>, clock);
    this.#listWatch = new ListWatch({
      ...checked,
      client: new ResourceClient(limited, resource),
      path,
      selection: { namespace, fieldSelector, labelSelector },
      plan: checked.listFrom === 'cache' ? new CachedReads(checked) : new LatestReads(checked),
      received: new ReceivedObjects({ ...checked, path }),
      host: this.#host(),
      metrics: this.#metrics,
    });
    // stop() rejects it, also when no caller awaits start()
    this.#firstList.promise.catch(() => {});
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /** True once a full list is in the store; false again from `pause()` until the next one. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** The version that the store is of; undefined before the first list. */
  get resourceVersion(): string | undefined {
    return this.#listWatch.resourceVersion;
  }

  /** When the server was last heard from (a list, an event, a bookmark), in milliseconds since the epoch. */
  lastObservedAt(): number | undefined {
    return this.#lastObservedAt;
  }

  /**
   * When the last full list that was delivered began, by the reflector's clock, in milliseconds since the epoch; undefined
   * before the first. With `listFrom: 'latest'` it shows every write that was acknowledged before it began.
   */
  lastListedAt(): number | undefined {
    return this.#lastListedAt;
  }

  /**
   * Why the last list or watch failed; undefined once the server was heard from again, and before any failure. A watch that was
   * refused counts as failed until one works, however many lists are answered in between.
   */
  lastFailure(): LastFailure | undefined {
    return this.#lastFailure;
  }

  /**
   * Resolves once the first list has been delivered; a list that fails is tried again. Rejects with ERR_ALREADY_STARTED, with
   * ERR_STOPPED when the reflector is stopped before that, with ERR_INVALID_OPTION, and with the reason of a signal that had
   * aborted before; then nothing is started. Rejects with ERR_START_TIMEOUT after `timeoutMs`, saying in words what the server
   * answered, and with the signal's reason; then the reflector goes on trying, and `stop()` ends it.
   */
  start(options: StartOptions = {}): Promise<void> {
    try {
      requireStartOptions(options);
      this.#runState.start();
    } catch (error) {
      return Promise.reject(error);
    }
    this.#metrics.begin(() => ({
      isRunning: this.#run !== undefined,
      hasSynced: this.#run !== undefined && this.#hasSynced,
      objects: this.store.size,
      heardAt: this.#heardAt,
    }));
    this.#begin();
    const waitsFor = () => awaitedAnswer(`the objects of ${this.#path} are not listed`, this.#lastFailure);
    return awaitStart(this.#firstList.promise, options, { owner: 'reflector', clock: this.#clock, waitsFor });
  }

  /**
   * Ends the watch and keeps the store. When it resolves, there is no request and no timer left; a transport that does not
   * heed its signal is waited for no longer than a second. Nothing happens unless the reflector runs.
   */
  pause(): Promise<void> {
    this.#hasSynced = false;
    this.#run?.abort();
    this.#run = undefined;
    return this.#loop;
  }

  /** Goes on after `pause()`, with a full list. Throws ERR_STOPPED after `stop()`. Nothing happens unless it is paused. */
  resume(): void {
    this.#runState.assertNotStopped('resume');
    if (this.#runState.name === 'running' && this.#run === undefined) this.#begin();
  }

  /**
   * Ends the watch. When it resolves, there is no timer and no socket left, and no callback comes any more. A transport that
   * does not heed its signal is waited for no longer than a second.
   */
  stop(): Promise<void> {
    return this.#runState.stop(() => this.#stop());
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** A reader of the changes: first each object that the store has, as added, then each change. */
  [Symbol.asyncIterator](): ChangeQueue<T> {
    const queue = new ChangeQueue<T>(this.#delivery.toldObjects(), () => {
      this.#queues.delete(queue);
      this.#listeners.delete(queue);
    });
    if (this.state === 'stopping' || this.state === 'stopped') {
      queue.close();
    } else {
      this.#queues.add(queue);
      this.#listeners.add(queue);
    }
    return queue;
  }

  /** A run begins when the one before it has ended. Only a clock that throws can end one with an error. */
  #begin(): void {
    const run = new AbortController();
    this.#run = run;
    const ended = this.#loop.then(() => this.#listWatch.run(run.signal));
    this.#loop = ended.catch((error) => this.#logger.error({ err: error }, 'a reflector has ended: its clock failed'));
  }

  async #stop(): Promise<void> {
    this.#run?.abort();
    this.#run = undefined;
    this.#handlers.close();
    for (const queue of this.#queues) queue.close();
    // an error costs more than the rest of an end, and there may be thousands of reflectors
    if (this.#lastListedAt === undefined) {
      this.#firstList.reject(new StatusManagerError('ERR_STOPPED', 'The reflector was stopped before its first list'));
    }
    await this.#loop;
    this.#metrics.end();
    await this.#ownTransport?.close();
  }

  #host(): ListWatchHost<T> {
    return {
      observed: () => {
        this.#lastObservedAt = this.#clock.now();
        this.#heardAt = this.#clock.elapsed();
      },
      works: () => {
        this.#lastFailure = undefined;
      },
      list: (list) => this.#list(list),
      held: (object) => this.#delivery.held(object),
      set: (object) => this.#delivery.set(object),
      remove: (namespace, name, last) => this.#delivery.remove(namespace, name, last),
      interrupted: (error, delayMs, { since, attempt }) => {
        const at = this.#clock.now();
        this.#lastFailure = { error, at, retryAt: at + delayMs, since, attempt };
        this.#handlers.interrupted(error, delayMs);
      },
    };
  }

  #list(list: ReadList<T>): void {
    const run = this.#run;
    this.#delivery.replace(list);
    // a handler has called pause() or stop()
    if (run === undefined || this.#run !== run) return;
    this.#lastListedAt = list.startedAt;
    this.#hasSynced = true;
    this.#handlers.synced();
    this.#firstList.resolve();
  }
}
