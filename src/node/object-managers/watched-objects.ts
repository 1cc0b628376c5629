// Behaviour of the object cache of pkg/kubelet/util/manager/watch_based_manager.go, v1.36.3.

import { objectBytes } from '../../api/json/bytes.ts';
import { objectFields } from '../../api/pod/pod-log-fields.ts';
import type { CancelTimer } from '../../base/clock.ts';
import type { StatusManagerError } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { ResourceClient } from '../../client/resources/resource-client.ts';
import { CachedObjects } from './cached-objects.ts';
import type { ObjectCounts, ObjectHoldings, PodHoldings } from './object-budget.ts';
import { canExist, keyOf, type NamespacedName, objectNotFound, stopped } from './object-errors.ts';
import type { ObjectReader } from './object-reader.ts';
import { type MaybeImmutable, WatchedObject, type WatchedObjectOptions } from './watched-object.ts';

type OfOneObject = 'watching' | 'mayKeep';

export interface WatchedObjectsOptions<T extends MaybeImmutable> extends Omit<WatchedObjectOptions<T>, OfOneObject> {
  /** How often the agent reads what its pods have mounted, in milliseconds. */
  readonly resyncIntervalMs: number;
  readonly budget: ObjectCounts;
  readonly metrics: Metrics;
}

interface ReferencedObject<T extends MaybeImmutable> {
  readonly name: NamespacedName;
  readonly holdings: ObjectHoldings;
  /** Undefined for a name that no object can have: there is nothing to watch. */
  watched: WatchedObject<T> | undefined;
}

const lookEveryMs = 60_000;
const shortestIdleMs = 60_000;
const idleIntervals = 5;
/** How long an object without a watch is served. */
const unwatchedTtlMs = 60_000;

/**
 * Strategy `watch`: each object has one watch of its own while pods refer to it, however many. What is not read for five
 * intervals is not watched until it is read again; the manager looks once a minute. What the budget has no watch for, or no
 * room, is read in place of being watched, until no pod refers to it any more.
 */
export class WatchedObjects<T extends MaybeImmutable> implements ObjectReader<T> {
  readonly #options: WatchedObjectsOptions<T>;
  readonly #unwatched: CachedObjects<T>;
  readonly #maxIdleMs: number;
  readonly #madeAt: number;
  readonly #objects = new Map<string, ReferencedObject<T>>();
  /** Watches that were told to end. */
  readonly #ending = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  /** Set while anything is watched. */
  #cancelLook: CancelTimer | undefined;
  #watches = 0;

  constructor(options: WatchedObjectsOptions<T>) {
    const { transport, resource, clock, budget, resyncIntervalMs } = options;
    this.#options = options;
    this.#unwatched = new CachedObjects(new ResourceClient(transport, resource), { clock, budget, ttlMs: () => unwatchedTtlMs });
    this.#maxIdleMs = Math.max(shortestIdleMs, resyncIntervalMs * idleIntervals);
    this.#madeAt = clock.elapsed();
  }

  addReference(name: NamespacedName, pod: PodHoldings): void {
    const { budget } = this.#options;
    const held = this.#objects.get(keyOf(name));
    if (held !== undefined) budget.join(held.holdings, pod);
    else if (this.#unwatched.has(name)) this.#unwatched.addReference(name, pod);
    else this.#addFirst(name, pod);
    this.#countObjects();
  }

  removeReference(name: NamespacedName, pod: PodHoldings): void {
    const key = keyOf(name);
    const held = this.#objects.get(key);
    if (held === undefined) {
      this.#unwatched.removeReference(name, pod);
    } else {
      this.#options.budget.leave(held.holdings, pod);
      if (held.holdings.pods.size > 0) return;
      this.#objects.delete(key);
      this.#end(held.watched);
    }
    this.#countObjects();
  }

  async get(name: NamespacedName): Promise<T> {
    const held = this.#objects.get(keyOf(name));
    if (held === undefined) return this.#unwatched.get(name);
    if (held.watched === undefined) throw objectNotFound(this.#options.resource.kind, name);
    const object = await held.watched.get();
    // what was not kept when it came is asked for
    return object ?? this.#unwatched.get(name);
  }

  async stop(): Promise<void> {
    const { budget, resource } = this.#options;
    const reason = () => stopped(`manager of ${resource.resource}`);
    this.#stopping.abort();
    for (const { watched, holdings } of this.#objects.values()) {
      for (const pod of [...holdings.pods]) budget.leave(holdings, pod);
      this.#end(watched, reason);
    }
    this.#objects.clear();
    this.#countObjects();
    await Promise.allSettled([...this.#ending, this.#unwatched.stop()]);
  }

  #addFirst(name: NamespacedName, pod: PodHoldings): void {
    const { budget } = this.#options;
    const holdings = budget.object();
    budget.join(holdings, pod);
    const object: ReferencedObject<T> = { name, holdings, watched: undefined };
    if (canExist(name)) {
      if (!budget.watch(holdings)) {
        budget.leave(holdings, pod);
        this.#unwatched.addReference(name, pod);
        return;
      }
      const watched = this.#watchOf(object);
      object.watched = watched;
      const { openings } = budget;
      openings.run(budget.flowOf(holdings), () => watched.open(), this.#stopping.signal).catch(ignoreFailure);
    }
    this.#objects.set(keyOf(name), object);
  }

  #watchOf(object: ReferencedObject<T>): WatchedObject<T> {
    const { budget } = this.#options;
    return new WatchedObject(object.name, {
      ...this.#options,
      watching: (isWatching) => this.#watching(isWatching),
      mayKeep: (copy) => {
        const refusal = budget.hold(object.holdings, objectBytes(copy));
        if (copy === undefined || refusal === undefined) return true;
        // not in the middle of what its reflector does
        queueMicrotask(() => this.#unwatch(object, refusal));
        return false;
      },
    });
  }

  /** From here on the object is read in place of being watched. */
  #unwatch(object: ReferencedObject<T>, refusal: StatusManagerError): void {
    const { name, holdings, watched } = object;
    if (this.#objects.get(keyOf(name)) !== object) return;
    this.#objects.delete(keyOf(name));
    const { budget, logger, resource } = this.#options;
    const fields = { err: refusal, ...objectFields(resource.kind, name) };
    for (const pod of [...holdings.pods]) {
      budget.leave(holdings, pod);
      this.#unwatched.addReference(name, pod);
    }
    this.#unwatched.refuse(name, refusal);
    logger.warn(fields, 'there is no room for an object that pods name: it is not kept, and watched no more');
    this.#end(watched);
    this.#countObjects();
  }

  #end(watched: WatchedObject<T> | undefined, reason?: Parameters<WatchedObject<T>['stop']>[0]): void {
    if (watched === undefined) return;
    const ending = watched.stop(reason);
    this.#ending.add(ending);
    const done = (): void => {
      this.#ending.delete(ending);
    };
    ending.then(done, done);
  }

  #watching(isWatching: boolean): void {
    this.#watches += isWatching ? 1 : -1;
    const { metrics, resource } = this.#options;
    metrics.set('pod_status_manager_object_watches', this.#watches, { resource: resource.resource });
    if (this.#watches > 0) {
      this.#cancelLook ??= this.#lookLater();
      return;
    }
    this.#cancelLook?.();
    this.#cancelLook = undefined;
  }

  #countObjects(): void {
    const { metrics, resource } = this.#options;
    const count = this.#objects.size + this.#unwatched.size;
    metrics.set('pod_status_manager_referenced_objects', count, { resource: resource.resource });
  }

  /** At the next full minute since the manager was made: a watch that was opened meanwhile does not put it off. */
  #lookLater(): CancelTimer {
    const { clock } = this.#options;
    const sinceLast = (clock.elapsed() - this.#madeAt) % lookEveryMs;
    // what is left of a minute by a mistake in rounding would fall due at this very moment, again and again
    return clock.setTimer(() => this.#look(), Math.max(1, lookEveryMs - sinceLast));
  }

  #look(): void {
    this.#cancelLook = undefined;
    for (const { watched } of this.#objects.values()) watched?.pauseIfIdle(this.#maxIdleMs);
    if (this.#watches > 0) this.#cancelLook ??= this.#lookLater();
  }
}
