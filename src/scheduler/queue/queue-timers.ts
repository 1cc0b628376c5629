import type { CancelTimer } from '../../base/clock.ts';
import { backoffWindowMs } from './backoff-queue.ts';
import type { SteadyTime } from './steady-time.ts';

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
