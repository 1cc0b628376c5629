import { callGuarded } from '../../seams/guard.ts';
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

/** An event that is not yet told, with those who listened when it happened. */
interface Announcement {
  readonly event: PodEvent;
  readonly subscriptions: readonly Subscription[];
}

/** The events of a store, in order. The last ones can be replayed; listeners get every new one. */
export class PodHistory {
  readonly #capacity: number;
  readonly #subscriptions = new Set<Subscription>();
  readonly #untold: Announcement[] = [];
  #isTelling = false;
  #events: PodEvent[] = [];
  /** The resourceVersion of the newest event that can no longer be replayed. */
  #forgottenUpTo = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * Keeps the event, and calls every listener before it returns. An event that a listener causes comes after the one it
   * was called with, for all listeners. The error of a listener becomes a warning of the process.
   */
  add(event: PodEvent): void {
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

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : new Error(String(error)));
}
