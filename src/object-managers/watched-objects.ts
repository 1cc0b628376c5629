// Behaviour of the object cache of pkg/kubelet/util/manager/watch_based_manager.go, v1.36.3.

import type { Metrics } from '../metrics/metrics.ts';
import type { CancelTimer } from '../seams/clock.ts';
import { notFound, notRegistered, stopped } from './object-errors.ts';
import { canExist, keyOf, type NamespacedName } from './object-name.ts';
import type { ObjectReader } from './object-reader.ts';
import { type MaybeImmutable, WatchedObject, type WatchedObjectOptions } from './watched-object.ts';

export interface WatchedObjectsOptions<T extends MaybeImmutable> extends Omit<WatchedObjectOptions<T>, 'watching'> {
  /** How often the agent reads what its pods have mounted, in milliseconds. */
  readonly resyncIntervalMs: number;
  readonly metrics: Metrics;
}

interface ReferencedObject<T extends MaybeImmutable> {
  references: number;
  /** Undefined for a name that no object can have: there is nothing to watch. */
  readonly watched: WatchedObject<T> | undefined;
}

const lookEveryMs = 60_000;
const shortestIdleMs = 60_000;
const idleIntervals = 5;

/**
 * Strategy `watch`: each object has one watch of its own while pods refer to it, however many. What is not read for five
 * intervals is not watched until it is read again; the manager looks once a minute.
 */
export class WatchedObjects<T extends MaybeImmutable> implements ObjectReader<T> {
  readonly #options: WatchedObjectsOptions<T> & Pick<WatchedObjectOptions<T>, 'watching'>;
  readonly #maxIdleMs: number;
  readonly #madeAt: number;
  readonly #objects = new Map<string, ReferencedObject<T>>();
  /** Watches that were told to end. */
  readonly #ending = new Set<Promise<void>>();
  /** Set while anything is watched. */
  #cancelLook: CancelTimer | undefined;
  #watches = 0;

  constructor(options: WatchedObjectsOptions<T>) {
    this.#options = { ...options, watching: (isWatching) => this.#watching(isWatching) };
    this.#maxIdleMs = Math.max(shortestIdleMs, options.resyncIntervalMs * idleIntervals);
    this.#madeAt = options.clock.now();
  }

  addReference(name: NamespacedName): void {
    const key = keyOf(name);
    const held = this.#objects.get(key);
    if (held !== undefined) {
      held.references += 1;
      return;
    }
    const watched = canExist(name) ? new WatchedObject(name, this.#options) : undefined;
    this.#objects.set(key, { references: 1, watched });
    this.#countObjects();
  }

  removeReference(name: NamespacedName): void {
    const key = keyOf(name);
    const held = this.#objects.get(key);
    if (held === undefined) return;
    held.references -= 1;
    if (held.references > 0) return;
    this.#objects.delete(key);
    this.#end(held.watched?.stop());
    this.#countObjects();
  }

  async get(name: NamespacedName): Promise<T> {
    const held = this.#objects.get(keyOf(name));
    if (held === undefined) throw notRegistered(name);
    if (held.watched === undefined) throw notFound(this.#options.resource.kind, name);
    return held.watched.get();
  }

  async stop(): Promise<void> {
    const reason = () => stopped(`manager of ${this.#options.resource.resource}`);
    for (const { watched } of this.#objects.values()) this.#end(watched?.stop(reason));
    this.#objects.clear();
    this.#countObjects();
    await Promise.allSettled(this.#ending);
  }

  #end(ending: Promise<void> | undefined): void {
    if (ending === undefined) return;
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
    metrics.set('pod_status_manager_referenced_objects', this.#objects.size, { resource: resource.resource });
  }

  /** At the next full minute since the manager was made: a watch that was opened meanwhile does not put it off. */
  #lookLater(): CancelTimer {
    const { clock } = this.#options;
    const sinceLast = (clock.now() - this.#madeAt) % lookEveryMs;
    return clock.setTimer(() => this.#look(), lookEveryMs - Math.max(0, sinceLast));
  }

  #look(): void {
    this.#cancelLook = undefined;
    for (const { watched } of this.#objects.values()) watched?.pauseIfIdle(this.#maxIdleMs);
    if (this.#watches > 0) this.#cancelLook ??= this.#lookLater();
  }
}
