// Behaviour of pkg/kubelet/util/queue, v1.36.3, with a way to wait.

import { type CancelTimer, type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { KeyedHeap } from '../../base/concurrency/keyed-heap.ts';
import { invalidArgument } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { longestTimerMs, requireKnownOptions, requireMethods, requireText } from '../../base/options.ts';

/** Where the workers put a pod that is to be synced again. */
export interface RetryQueue {
  /** The pod is due in `delayMs`. A delay that it had before counts no more. */
  enqueue(podUID: string, delayMs: number): void;
}

interface DuePod {
  readonly podUID: string;
  /** A time of `clock.elapsed()`. */
  readonly dueAt: number;
}

/** Where the queue has its time from. */
export interface WorkQueueOptions {
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
}

/**
 * Pods that are to be synced at a later time, each at most once. It does nothing by itself: a loop waits for `readable`, and
 * takes the pods that are due. A clock that is set delays and hastens nothing.
 *
 * @example
 * ```ts
 * import { WorkQueue } from 'pod-status-manager/node';
 *
 * const queue = new WorkQueue();
 * queue.enqueue('uid-1', 0);
 * queue.enqueue('uid-2', 60_000);
 * await queue.readable();
 * console.log(queue.getWork(), queue.size); // [ 'uid-1' ] 1
 * queue.close();
 * ```
 */
export class WorkQueue implements RetryQueue {
  readonly #clock: SteadyClock;
  readonly #due = new KeyedHeap<DuePod>((first, second) => first.dueAt < second.dueAt);
  #closed = false;
  #waiter: PromiseWithResolvers<boolean> | undefined;
  #cancelTimer: CancelTimer | undefined;

  constructor(options: WorkQueueOptions = {}) {
    requireKnownOptions('options', options, ['clock']);
    const { clock = systemClock } = options;
    requireMethods('clock', clock, ['now', 'setTimer']);
    this.#clock = safeClock(clock);
  }

  /** How many pods wait. */
  get size(): number {
    return this.#due.size;
  }

  /** When the pod is due, by the queue's clock, in milliseconds since the epoch; undefined for a pod that does not wait. */
  dueAt(podUID: string): number | undefined {
    const item = this.#due.get(podUID);
    return item && Math.round(this.#clock.now() + item.dueAt - this.#clock.elapsed());
  }

  /** How long the pod that is due first has been due, in milliseconds; 0 when none is. */
  get latenessMs(): number {
    return Math.max(0, this.#clock.elapsed() - (this.#due.first?.dueAt ?? Number.POSITIVE_INFINITY));
  }

  /** Throws ERR_INVALID_ARGUMENT for a delay that is no number or negative. Does nothing once the queue is closed. */
  enqueue(podUID: string, delayMs: number): void {
    requireText('podUID', podUID);
    if (!(delayMs >= 0 && delayMs < Number.POSITIVE_INFINITY)) throw invalidArgument('delayMs', 'a number from 0 up', delayMs);
    if (this.#closed) return;
    const pod: DuePod = { podUID, dueAt: this.#clock.elapsed() + delayMs };
    this.#due.set(podUID, pod);
    if (this.#waiter !== undefined && this.#due.first === pod) this.#arm();
  }

  /** Takes the pods that are due, the one first due first. */
  getWork(): string[] {
    const now = this.#clock.elapsed();
    const work: string[] = [];
    for (let { first } = this.#due; first !== undefined && first.dueAt <= now; { first } = this.#due) {
      this.#due.take();
      work.push(first.podUID);
    }
    return work;
  }

  /**
   * Resolves to true once a pod is due, to false when the queue is closed. Nothing is taken. Every caller gets the same promise.
   * Rejects where the clock fails to set the timer: nothing is lost, and the reader asks again.
   */
  readable(): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    if (this.#waiter === undefined) {
      this.#waiter = Promise.withResolvers<boolean>();
      const { promise } = this.#waiter;
      promise.catch(ignoreFailure);
      this.#arm();
      return promise;
    }
    return this.#waiter.promise;
  }

  /** Drops every pod, ends the wait, and leaves no timer. */
  close(): void {
    this.#closed = true;
    this.#due.clear();
    this.#disarm();
    this.#resolve(false);
  }

  /** The same as `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** Sets the timer for the pod that is due first, or ends the wait. */
  #arm(): void {
    this.#disarm();
    const { first } = this.#due;
    if (first === undefined) return;
    const waitMs = first.dueAt - this.#clock.elapsed();
    if (waitMs <= 0) {
      this.#resolve(true);
      return;
    }
    try {
      this.#cancelTimer = this.#clock.setTimer(() => this.#arm(), Math.min(Math.ceil(waitMs), longestTimerMs));
    } catch (error) {
      this.#waiter?.reject(error);
      this.#waiter = undefined;
    }
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #resolve(isOpen: boolean): void {
    this.#waiter?.resolve(isOpen);
    this.#waiter = undefined;
  }
}
