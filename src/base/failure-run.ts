import type { Clock } from './clock.ts';
import { errorText } from './errors.ts';
import { textBeginning } from './text-beginning.ts';

/** Failures of one thing, in a row. */
export interface Failing {
  /** What the last one said. */
  readonly message: string;
  /** When the first one came, in milliseconds since the epoch. */
  readonly since: number;
  /** How many there are. */
  readonly attempt: number;
}

/** So much of what a failure says is kept, in characters. */
const longestKept = 1000;

/** Counts how often one thing has failed in a row, and keeps since when and what the last failure said. */
export class FailureRun {
  readonly #clock: Pick<Clock, 'now'>;
  #failing: Failing | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Undefined while all is well. */
  get failing(): Failing | undefined {
    return this.#failing;
  }

  failed(error: unknown): Failing {
    const { since = this.#clock.now(), attempt = 0 } = this.#failing ?? {};
    this.#failing = { message: textBeginning(errorText(error), longestKept), since, attempt: attempt + 1 };
    return this.#failing;
  }

  succeeded(): void {
    this.#failing = undefined;
  }
}
