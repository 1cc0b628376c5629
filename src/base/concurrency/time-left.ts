import { type Clock, type SteadyClock, safeClock } from '../clock.ts';
import { settlesWithin } from './aborts.ts';

/** One deadline that several pieces of work share, one after another. */
export class TimeLeft {
  readonly #clock: SteadyClock;
  readonly #totalMs: number;
  readonly #startedAt: number;

  constructor(clock: Clock, totalMs: number) {
    this.#clock = safeClock(clock);
    this.#totalMs = totalMs;
    this.#startedAt = this.#clock.elapsed();
  }

  /** What is left, in milliseconds, and never more than `atMostMs`. */
  ms(atMostMs = Number.POSITIVE_INFINITY): number {
    const passedMs = this.#clock.elapsed() - this.#startedAt;
    return Math.max(0, Math.min(this.#totalMs - passedMs, atMostMs));
  }

  /** True when the work has ended in time, well or not: within what is left, and within `atMostMs`. Never rejects. */
  allows(work: Promise<unknown>, atMostMs?: number): Promise<boolean> {
    return settlesWithin(work, { clock: this.#clock, timeoutMs: this.ms(atMostMs) });
  }
}
