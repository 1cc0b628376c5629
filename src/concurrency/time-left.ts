import { type Clock, sleep } from '../seams/clock.ts';

/** One deadline that several pieces of work share, one after another. */
export class TimeLeft {
  readonly #clock: Clock;
  readonly #totalMs: number;
  readonly #startedAt: number;

  constructor(clock: Clock, totalMs: number) {
    this.#clock = clock;
    this.#totalMs = totalMs;
    this.#startedAt = clock.now();
  }

  /** What is left, in milliseconds, and never more than `atMostMs`. A clock that jumps back gives no time that was not there. */
  ms(atMostMs = Number.POSITIVE_INFINITY): number {
    const passedMs = Math.max(0, this.#clock.now() - this.#startedAt);
    return Math.max(0, Math.min(this.#totalMs - passedMs, atMostMs));
  }

  /** True when the work has ended in time: within what is left, and within `atMostMs`. The work may not reject. */
  async allows(work: Promise<unknown>, atMostMs?: number): Promise<boolean> {
    const over = new AbortController();
    let hasEnded = false;
    const ended = work.then(() => {
      hasEnded = true;
      over.abort();
    });
    await Promise.race([ended, sleep(this.#clock, this.ms(atMostMs), over.signal)]);
    return hasEnded;
  }
}
