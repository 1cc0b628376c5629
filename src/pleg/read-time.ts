import type { Clock } from '../seams/clock.ts';

/** When a read of the runtime began. What it brought was true then, or became true later. */
export interface ReadTime {
  /** Grows with each read. */
  readonly order: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Grows each time the clock was set back. */
  readonly era: number;
}

/** Says when reads begin, and which of them are newer than a time. A clock that is set back makes no old read look new. */
export class ReadTimes {
  readonly #clock: Clock;
  #order = 0;
  #era = 0;
  #last = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The time of a read that begins now. */
  begin(): ReadTime {
    const at = this.#now();
    this.#order += 1;
    return { order: this.#order, at, era: this.#era };
  }

  /** True when the read began after `time`, in milliseconds since the epoch, by the clock as it goes now. */
  isAfter(read: ReadTime, time: number): boolean {
    this.#now();
    return read.era === this.#era && read.at > time;
  }

  /** How long ago the read began, in milliseconds; infinitely long when the clock was set back since. */
  age(read: ReadTime): number {
    const now = this.#now();
    return read.era === this.#era ? now - read.at : Number.POSITIVE_INFINITY;
  }

  #now(): number {
    const now = this.#clock.now();
    if (now < this.#last) this.#era += 1;
    this.#last = now;
    return now;
  }
}
