import type { JsonObject } from '../../api/json/types.ts';
import { callGuarded } from '../../base/guard.ts';
import { expired } from './api-status.ts';

/** One change of a store. */
export interface ObjectEvent<T> {
  /** What happened to the object. */
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The object after the change; for DELETED its last state, with the resourceVersion of the deletion. */
  readonly object: T;
  /** The resourceVersion of the change. */
  readonly resourceVersion: string;
  /** The object before the change; undefined for ADDED. It shows a watch with a selector that an object left the selection. */
  readonly previous: T | undefined;
}

/** Is called with each change of a store. */
export type ObjectEventListener<T> = (event: ObjectEvent<T>) => void;

interface Subscription<T> {
  readonly listener: ObjectEventListener<T>;
  readonly onCut: () => void;
}

/** An event that is not yet told, with those who listened when it happened. */
interface Announcement<T> {
  readonly event: ObjectEvent<T>;
  readonly subscriptions: readonly Subscription<T>[];
}

/** The events of a store, in order. The last ones can be replayed; listeners get every new one. */
export class ObjectHistory<T> {
  readonly #capacity: number;
  readonly #subscriptions = new Set<Subscription<T>>();
  readonly #untold: Announcement<T>[] = [];
  #isTelling = false;
  #events: ObjectEvent<T>[] = [];
  /** The resourceVersion of the newest event that can no longer be replayed. */
  #forgottenUpTo = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * Keeps the event, and calls every listener before it returns. An event that a listener causes comes after the one it
   * was called with, for all listeners. The error of a listener becomes a warning of the process.
   */
  add(event: ObjectEvent<T>): void {
    this.#events.push(event);
    // Drops half of the events at once: to drop one at a time, each write would copy the whole history.
    if (this.#events.length > 2 * this.#capacity) this.#forget(this.#events.length - this.#capacity);
    this.#untold.push({ event, subscriptions: [...this.#subscriptions] });
    if (!this.#isTelling) this.#tell();
  }

  #tell(): void {
    this.#isTelling = true;
    for (let next = this.#untold.shift(); next !== undefined; next = this.#untold.shift()) {
      const { event, subscriptions } = next;
      for (const subscription of subscriptions) {
        if (this.#subscriptions.has(subscription)) callGuarded(() => subscription.listener(event), warn);
      }
    }
    this.#isTelling = false;
  }

  /** Returns a function that ends the subscription. `onCut` is called once if {@link cut} ends it first. */
  listen(listener: ObjectEventListener<T>, onCut: () => void = () => {}): () => void {
    const subscription: Subscription<T> = { listener, onCut };
    this.#subscriptions.add(subscription);
    return () => {
      this.#subscriptions.delete(subscription);
    };
  }

  /** Ends every subscription and forgets every event so far, as after a restore of etcd. */
  cut(resourceVersion: number): void {
    const subscriptions = [...this.#subscriptions];
    this.#subscriptions.clear();
    this.compact(resourceVersion);
    for (const { onCut } of subscriptions) onCut();
  }

  /** The events after `resourceVersion`. Throws 410 Expired when some of them are forgotten. */
  since(resourceVersion: string): readonly ObjectEvent<T>[] {
    const version = Number(resourceVersion);
    if (version < this.#forgottenUpTo) throw expired(resourceVersion, String(this.#forgottenUpTo));
    return this.#events.filter((event) => Number(event.resourceVersion) > version);
  }

  /** Forgets every event so far, as etcd's compaction does. */
  compact(upTo: number): void {
    this.#events = [];
    this.#forgottenUpTo = upTo;
  }

  #forget(count: number): void {
    const last = this.#events[count - 1];
    if (last !== undefined) this.#forgottenUpTo = Number(last.resourceVersion);
    this.#events = this.#events.slice(count);
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : new Error(String(error)));
}

/** What a database sets back: the objects of one resource. */
export interface Restorable {
  /** The qualified name of the resource. */
  readonly key: string;
  all(): readonly JsonObject[];
  /** Replaces every object, ends every watch, and forgets every event. */
  restore(objects: readonly JsonObject[]): void;
}

/** The objects of several resources, by the qualified name of the resource. */
export type ObjectsByResource = ReadonlyMap<string, readonly object[]>;

/** What the stores of one server share, as they share an etcd: the one counter of resourceVersions, and backups. */
export class Database {
  readonly #stores = new Map<string, Restorable>();
  #version = 0;

  /** The resourceVersion of the newest change of any object. */
  get resourceVersion(): string {
    return String(this.#version);
  }

  /** The resourceVersion of a change that happens now. */
  nextVersion(): string {
    this.#version += 1;
    return this.resourceVersion;
  }

  add(store: Restorable): void {
    this.#stores.set(store.key, store);
  }

  /** Another database at the same resourceVersion, for stores that are tried out. */
  trial(): Database {
    const copy = new Database();
    copy.#version = this.#version;
    return copy;
  }

  /** The objects of every resource but the one with this key. */
  othersThan(key: string): ObjectsByResource {
    const others = [...this.#stores].filter(([each]) => each !== key);
    return new Map(others.map(([each, store]) => [each, Object.freeze(store.all())]));
  }

  /** Sets the counter and the objects back. A resource that the `objects` do not name has none afterwards. */
  restore(resourceVersion: string, objects: ObjectsByResource): void {
    this.#version = Number(resourceVersion);
    for (const [key, store] of this.#stores) store.restore((objects.get(key) ?? []) as readonly JsonObject[]);
  }
}
