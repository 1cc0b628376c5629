import { type Before, KeyedHeap } from '../../base/concurrency/keyed-heap.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { type BackoffBounds, BackoffQueue } from './backoff-queue.ts';
import { askGates, type GatingPlugin } from './gate.ts';
import { type QueueEntry, schedulerNameOf } from './queued-pod-info.ts';
import type { Requeueing } from './requeueing.ts';
import type { SteadyTime } from './steady-time.ts';
import { UnschedulablePods } from './unschedulable-pods.ts';

/** Where a pod waits. */
export type Place = 'active' | 'backoff' | 'unschedulable';

export interface WaitingPodsOptions {
  readonly before: Before<QueueEntry>;
  readonly backoff: BackoffBounds;
  /** The plugins of each profile that may gate a pod. */
  readonly gates: ReadonlyMap<string, readonly GatingPlugin[]>;
  readonly time: SteadyTime;
  readonly logger: Logger;
  /** Told of every pod that comes to a place, and by what. */
  readonly onIncoming: (place: Place, event: string) => void;
}

/** The pods that are not in flight. Each is at one place. */
export class WaitingPods {
  readonly #options: WaitingPodsOptions;
  readonly #active: KeyedHeap<QueueEntry>;
  readonly backoff: BackoffQueue;
  readonly unschedulable = new UnschedulablePods();

  constructor(options: WaitingPodsOptions) {
    this.#options = options;
    const { before, backoff, time } = options;
    this.#active = new KeyedHeap(before);
    this.backoff = new BackoffQueue(time, backoff, before);
  }

  get activeSize(): number {
    return this.#active.size;
  }

  /** True where `take` has a pod. */
  get hasReady(): boolean {
    return this.#active.size > 0 || this.backoff.rejectedSize > 0;
  }

  /** Removes the pod that is to be tried next: where none is active, a rejected one before the end of its back-off. */
  take(): QueueEntry | undefined {
    const active = this.#active.take();
    if (active !== undefined) return active;
    const early = this.backoff.takeRejected();
    if (early !== undefined) this.#arrived('active', 'PopFromBackoffQ');
    return early;
  }

  get(uid: string): QueueEntry | undefined {
    return this.#active.get(uid) ?? this.backoff.get(uid) ?? this.unschedulable.get(uid);
  }

  placeOf(uid: string): Place | undefined {
    if (this.#active.has(uid)) return 'active';
    if (this.backoff.get(uid) !== undefined) return 'backoff';
    return this.unschedulable.get(uid) && 'unschedulable';
  }

  activePods(): QueueEntry[] {
    return [...this.#active.values()];
  }

  /** Puts a newer version in the place of a pod that is active or backs off. False for one that is neither. */
  replace(podInfo: PodInfo): boolean {
    const active = this.#active.get(podInfo.uid);
    const entry = active ?? this.backoff.get(podInfo.uid);
    if (entry === undefined) return false;
    entry.podInfo = podInfo;
    if (active === undefined) this.backoff.set(entry);
    else this.#active.set(podInfo.uid, entry);
    return true;
  }

  /** Puts the pod where it is to wait. A pod that is gated waits among the unschedulable ones. */
  requeue(entry: QueueEntry, requeueing: Requeueing, event: string): Place {
    if (requeueing === 'stay') return this.#toUnschedulable(entry, event);
    askGates(entry, this.#options.gates.get(schedulerNameOf(entry)) ?? [], this.#options.logger);
    if (entry.gatedBy !== undefined) return this.#toUnschedulable(entry, event);
    return requeueing === 'afterBackoff' && this.backoff.isBackingOff(entry)
      ? this.#toBackoff(entry, event)
      : this.toActive(entry, event);
  }

  /** Lets the pod be tried now; its gates are not asked. */
  toActive(entry: QueueEntry, event: string): Place {
    const { uid } = entry.podInfo;
    entry.firstReadyAt ??= this.#options.time.time();
    this.unschedulable.delete(uid);
    this.backoff.delete(uid);
    this.#active.set(uid, entry);
    return this.#arrived('active', event);
  }

  delete(uid: string): void {
    this.#active.delete(uid);
    this.backoff.delete(uid);
    this.unschedulable.delete(uid);
  }

  #toBackoff(entry: QueueEntry, event: string): Place {
    this.unschedulable.delete(entry.podInfo.uid);
    this.backoff.set(entry);
    return this.#arrived('backoff', event);
  }

  #toUnschedulable(entry: QueueEntry, event: string): Place {
    const isNew = this.unschedulable.get(entry.podInfo.uid) === undefined;
    this.unschedulable.set(entry);
    return isNew ? this.#arrived('unschedulable', event) : 'unschedulable';
  }

  #arrived(place: Place, event: string): Place {
    this.#options.onIncoming(place, event);
    return place;
  }
}
