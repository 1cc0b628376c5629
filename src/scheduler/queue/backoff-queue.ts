import type { CancelTimer, SteadyClock, TimerOptions } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { type Before, KeyedHeap } from '../../base/concurrency/keyed-heap.ts';
import { isRejected, type QueueEntry } from './queued-pod-info.ts';

/** Back-offs end at whole seconds, and the pods of one second go in the order of the active queue. */
const backoffWindowMs = 1000;

/** How long pods back off. */
export interface BackoffBounds {
  /** After the first rejection or error, in milliseconds. */
  readonly initialMs: number;
  /** The longest, in milliseconds; 0: no back-off at all. */
  readonly maxMs: number;
}

/**
 * Pods that wait for the end of their back-off: those that were rejected, and apart from them those whose attempt ended with an error. A
 * back-off doubles with each rejection, or with each error in a row, and its end is cut down to a whole second.
 */
export class BackoffQueue {
  readonly #time: SteadyTime;
  readonly #bounds: BackoffBounds;
  readonly #rejected: KeyedHeap<QueueEntry>;
  readonly #errors: KeyedHeap<QueueEntry>;

  constructor(time: SteadyTime, bounds: BackoffBounds, before: Before<QueueEntry>) {
    this.#time = time;
    this.#bounds = bounds;
    this.#rejected = new KeyedHeap((first, second) => {
      const [one, two] = [this.endOf(first), this.endOf(second)];
      return one === two ? before(first, second) : one < two;
    });
    this.#errors = new KeyedHeap((first, second) => this.endOf(first) < this.endOf(second));
  }

  get size(): number {
    return this.#rejected.size + this.#errors.size;
  }

  /** How many pods `takeRejected` could give. */
  get rejectedSize(): number {
    return this.#rejected.size;
  }

  get(uid: string): QueueEntry | undefined {
    return this.#rejected.get(uid) ?? this.#errors.get(uid);
  }

  /** Adds the pod, or brings its order up to date. */
  set(entry: QueueEntry): void {
    const { uid } = entry.podInfo;
    const [to, from] = isRejected(entry) ? [this.#rejected, this.#errors] : [this.#errors, this.#rejected];
    from.delete(uid);
    to.set(uid, entry);
  }

  delete(uid: string): QueueEntry | undefined {
    return this.#rejected.delete(uid) ?? this.#errors.delete(uid);
  }

  /** The rejected pod whose back-off ends first, before its time. Never one that had an error. */
  takeRejected(): QueueEntry | undefined {
    return this.#rejected.take();
  }

  /** Removes the pods whose back-off is over, and returns them. */
  takeOver(): QueueEntry[] {
    return [this.#rejected, this.#errors].flatMap((heap) => {
      const over: QueueEntry[] = [];
      for (let { first } = heap; first !== undefined && !this.isBackingOff(first); { first } = heap) {
        over.push(first);
        heap.take();
      }
      return over;
    });
  }

  /** A pod whose back-off ends in the present second still backs off. */
  isBackingOff(entry: QueueEntry): boolean {
    return this.endOf(entry) >= wholeWindows(this.#time.time());
  }

  /** When the back-off ends; milliseconds since 1970. Before all times for a pod that never failed. */
  endOf(entry: QueueEntry): number {
    const { initialMs, maxMs } = this.#bounds;
    const count = entry.errorsInARow > 0 ? entry.errorsInARow : entry.rejections;
    if (count === 0 || maxMs === 0) return Number.NEGATIVE_INFINITY;
    entry.backoffEnd ??= wholeWindows(entry.timestamp + nthDelayMs(count, { firstMs: initialMs, longestMs: maxMs }));
    return entry.backoffEnd;
  }

  /** `rejected` and `errors`: the pods of each half, in no order. */
  entries(): { readonly rejected: QueueEntry[]; readonly errors: QueueEntry[] } {
    return { rejected: [...this.#rejected.values()], errors: [...this.#errors.values()] };
  }
}

function wholeWindows(ms: number): number {
  return Math.floor(ms / backoffWindowMs) * backoffWindowMs;
}

/** How often pods that have waited too long are looked for. */
const leftoverIntervalMs = 30_000;

interface Duty {
  readonly isNeeded: () => boolean;
  readonly delayMs: () => number;
  readonly run: () => void;
  cancel: CancelTimer | undefined;
}

/** What a queue does from time to time. Each is called only while `isNeeded` says that there is something to look at. */
export interface QueueDuties {
  /** At every whole second. */
  readonly backoff: Pick<Duty, 'isNeeded' | 'run'>;
  /** Every 30 s, counted from `start`. */
  readonly leftover: Pick<Duty, 'isNeeded' | 'run'>;
}

/** The timers of a queue, at most two at a time. They keep no process alive. */
export class QueueTimers {
  readonly #time: SteadyTime;
  readonly #duties: readonly Duty[];
  #startedAt: number | undefined;

  constructor(time: SteadyTime, { backoff, leftover }: QueueDuties) {
    this.#time = time;
    const toNext = (interval: number, since: number): number => interval - ((time.time() - since) % interval);
    this.#duties = [
      { ...backoff, delayMs: () => toNext(backoffWindowMs, 0), cancel: undefined },
      { ...leftover, delayMs: () => toNext(leftoverIntervalMs, this.#startedAt ?? 0), cancel: undefined },
    ];
  }

  start(): void {
    this.#startedAt ??= this.#time.time();
    this.arm();
  }

  /** To be called after pods were put aside. */
  arm(): void {
    if (this.#startedAt === undefined) return;
    for (const duty of this.#duties) {
      if (duty.cancel !== undefined || !duty.isNeeded()) continue;
      duty.cancel = this.#time.setTimer(() => {
        duty.cancel = undefined;
        duty.run();
        this.arm();
      }, duty.delayMs());
    }
  }

  close(): void {
    this.#startedAt = undefined;
    for (const duty of this.#duties) {
      duty.cancel?.();
      duty.cancel = undefined;
    }
  }
}

/**
 * The time as the wall clock showed it in the beginning, and what has passed since. It looks like a time of the wall clock, so that it
 * can be shown, but setting that clock does not move it: a pod's age and the end of its back-off are what they are.
 */
export interface SteadyTime {
  /** Milliseconds since 1970. Never less than before. */
  time(): number;
  /** What `elapsed` of the clock has shown, as such a time. */
  at(elapsedMs: number): number;
  /** Such a time as the wall clock has it, in whole milliseconds. The answer stays the same until that clock is set by more than a second. */
  wallTime(time: number): number;
  /** As that of a clock. */
  setTimer(callback: () => void, delayMs: number, options?: TimerOptions): CancelTimer;
}

/** The two clocks are never read at one moment, and one of them has whole milliseconds: a smaller difference is no setting of a clock. */
const sameClockMs = 1000;

export function steadyTime(clock: SteadyClock): SteadyTime {
  const start = clock.now() - clock.elapsed();
  const time = (): number => start + clock.elapsed();
  let toWall = 0;
  return {
    time,
    at: (elapsedMs) => start + elapsedMs,
    wallTime(given) {
      const apart = clock.now() - time();
      if (Math.abs(apart - toWall) > sameClockMs) toWall = apart;
      return Math.round(given + toWall);
    },
    setTimer: (callback, delayMs, options) => clock.setTimer(callback, delayMs, options),
  };
}
