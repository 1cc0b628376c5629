import type { SteadyClock } from '../../base/clock.ts';

/** When a read of the runtime began. What it brought was true then, or became true later. */
export interface ReadTime {
  /** Grows with each read. */
  readonly order: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The same by the clock's elapsed time. */
  readonly elapsed: number;
  /** Grows each time the clock was set back. */
  readonly era: number;
}

/** Says when reads begin, and which of them are newer than a time. A clock that is set back makes no old read look new. */
export class ReadTimes {
  readonly #clock: SteadyClock;
  #order = 0;
  #era = 0;
  #last = Number.NEGATIVE_INFINITY;

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** The time of a read that begins now. */
  begin(): ReadTime {
    const at = this.#now();
    this.#order += 1;
    return { order: this.#order, at, elapsed: this.#clock.elapsed(), era: this.#era };
  }

  /** True when the read began after `time`, in milliseconds since the epoch, by the clock as it goes now. */
  isAfter(read: ReadTime, time: number): boolean {
    this.#now();
    return read.era === this.#era && read.at > time;
  }

  /** How long ago the read began, in milliseconds, whatever the wall clock has done since. */
  age(read: ReadTime): number {
    return this.#clock.elapsed() - read.elapsed;
  }

  #now(): number {
    const now = this.#clock.now();
    if (now < this.#last) this.#era += 1;
    this.#last = now;
    return now;
  }
}
