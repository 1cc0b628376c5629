import type { JsonMembers } from '../../client/transport/api-answer.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { ClusterEvent } from './cluster-event.ts';
import type { QueueEntry } from './queued-pod-info.ts';

/** An event, and the object before and after it. */
export interface SeenEvent {
  readonly event: ClusterEvent;
  readonly before: JsonMembers | undefined;
  readonly after: JsonMembers | undefined;
}

interface InFlight {
  readonly entry: QueueEntry;
  /** The number of the first event after the pod was popped. */
  readonly since: number;
  /** The newest version; undefined once the pod is gone, or has a node. */
  latest: PodInfo | undefined;
}

/**
 * The pods that were popped and are not done, and the events since then: a pod that was rejected may be one that an event has helped while it
 * was tried. An event is kept for as long as a pod is in flight that was popped before it.
 */
export class InFlightPods {
  /** Those that events may still help, in the order in which they were popped. */
  readonly #pods = new Map<string, InFlight>();
  /** The others. */
  readonly #apart = new Map<string, InFlight>();
  #events: SeenEvent[] = [];
  /** How many events came before the first of `#events`. */
  #dropped = 0;

  get size(): number {
    return this.#pods.size + this.#apart.size;
  }

  /** How many events are kept. */
  get eventCount(): number {
    return this.#events.length;
  }

  has(uid: string): boolean {
    return this.#find(uid) !== undefined;
  }

  get(uid: string): QueueEntry | undefined {
    return this.#find(uid)?.entry;
  }

  entries(): QueueEntry[] {
    return [...this.#pods.values(), ...this.#apart.values()].map(({ entry }) => entry);
  }

  add(entry: QueueEntry): void {
    const { podInfo } = entry;
    this.#pods.set(podInfo.uid, { entry, since: this.#dropped + this.#events.length, latest: podInfo });
  }

  /** Keeps the pod's newest version for when it comes back; undefined: it is not to come back. False where it is not in flight. */
  setLatest(uid: string, latest: PodInfo | undefined): boolean {
    const pod = this.#find(uid);
    if (pod === undefined) return false;
    pod.latest = latest;
    return true;
  }

  /** The newest version of a pod in flight; undefined where it is not in flight, or is not to come back. */
  latestOf(uid: string): PodInfo | undefined {
    return this.#find(uid)?.latest;
  }

  see(seen: SeenEvent): void {
    if (this.#pods.size > 0) this.#events.push(seen);
  }

  /** The events since the pod was popped; none for one that is not in flight. */
  eventsSince(uid: string): readonly SeenEvent[] {
    const pod = this.#pods.get(uid);
    return pod === undefined ? [] : this.#events.slice(pod.since - this.#dropped);
  }

  /** No event helps the pod any more: none is kept for it. */
  setApart(uid: string): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    this.delete(uid);
    this.#apart.set(uid, pod);
  }

  delete(uid: string): void {
    this.#apart.delete(uid);
    if (!this.#pods.delete(uid)) return;
    const [oldest] = this.#pods.values();
    const seenByAll = oldest === undefined ? this.#events.length : oldest.since - this.#dropped;
    // cut off in large pieces, so that each event is moved a bounded number of times
    if (oldest !== undefined && seenByAll * 2 < this.#events.length) return;
    this.#dropped += seenByAll;
    this.#events = this.#events.slice(seenByAll);
  }

  #find(uid: string): InFlight | undefined {
    return this.#pods.get(uid) ?? this.#apart.get(uid);
  }
}
