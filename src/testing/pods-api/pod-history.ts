import type { WirePod } from '../../wire/types.ts';
import { expired } from './api-status.ts';

/** One change of the store. */
export interface PodEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The pod after the change; for DELETED its last state, with the resourceVersion of the deletion. */
  readonly object: WirePod;
  readonly resourceVersion: string;
  /** The pod before the change; undefined for ADDED. It shows a watch with a selector that a pod left the selection. */
  readonly previous: WirePod | undefined;
}

export type PodEventListener = (event: PodEvent) => void;

interface Subscription {
  readonly listener: PodEventListener;
  readonly onCut: () => void;
}

/** The events of a store, in order. The last ones can be replayed; listeners get every new one. */
export class PodHistory {
  readonly #capacity: number;
  readonly #subscriptions = new Set<Subscription>();
  #events: PodEvent[] = [];
  /** The resourceVersion of the newest event that can no longer be replayed. */
  #forgottenUpTo = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Keeps the event, and calls every listener before it returns. */
  add(event: PodEvent): void {
    this.#events.push(event);
    // Drops half of the events at once: to drop one at a time, each write would copy the whole history.
    if (this.#events.length > 2 * this.#capacity) this.#forget(this.#events.length - this.#capacity);
    for (const { listener } of [...this.#subscriptions]) listener(event);
  }

  /** Returns a function that ends the subscription. `onCut` is called once if {@link cut} ends it first. */
  listen(listener: PodEventListener, onCut: () => void = () => {}): () => void {
    const subscription: Subscription = { listener, onCut };
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
  since(resourceVersion: string): readonly PodEvent[] {
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
