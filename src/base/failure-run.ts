import type { SteadyClock } from './clock.ts';
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

/** What is told when failures in a row are over: how many there were, and how long they lasted. */
export interface EndedFailures {
  readonly attempt: number;
  readonly failingForMs: number;
}

/** What a log line says where something that has failed works again. `since`: when it failed first, in milliseconds since the epoch. */
export function endedFailures({ attempt, since }: Pick<Failing, 'attempt' | 'since'>, now: number): EndedFailures {
  return { attempt, failingForMs: Math.max(0, Math.round(now - since)) };
}

/** Counts how often one thing has failed in a row, and keeps since when and what the last failure said. */
export class FailureRun {
  readonly #clock: Pick<SteadyClock, 'now' | 'elapsed'>;
  readonly #forgottenAfterMs: number;
  readonly #recovered: ((ended: EndedFailures) => void) | undefined;
  #failing: Failing | undefined;
  /** When the last one came, or was said to go on, by `Clock.elapsed`. */
  #lastMs = 0;

  /**
   * `recovered`: told of the first success after failures. `forgottenAfterMs`: how long after the last failure nobody knows any more
   * whether it still fails; default: without limit.
   */
  constructor(
    clock: Pick<SteadyClock, 'now' | 'elapsed'>,
    recovered?: (ended: EndedFailures) => void,
    forgottenAfterMs = Number.POSITIVE_INFINITY,
  ) {
    this.#clock = clock;
    this.#forgottenAfterMs = forgottenAfterMs;
    this.#recovered = recovered;
  }

  /** Undefined while all is well, and once the last failure is forgotten. */
  get failing(): Failing | undefined {
    return this.#clock.elapsed() - this.#lastMs < this.#forgottenAfterMs ? this.#failing : undefined;
  }

  failed(error: unknown): Failing {
    const { since = Math.round(this.#clock.now()), attempt = 0 } = this.failing ?? {};
    this.#lastMs = this.#clock.elapsed();
    this.#failing = { message: textBeginning(errorText(error), longestKept), since, attempt: attempt + 1 };
    return this.#failing;
  }

  /** It fails still, and no try was made. False where it did not fail. */
  goesOn(): boolean {
    const isFailing = this.failing !== undefined;
    if (isFailing) this.#lastMs = this.#clock.elapsed();
    return isFailing;
  }

  succeeded(): void {
    const failing = this.#failing;
    this.#failing = undefined;
    if (failing !== undefined) this.#recovered?.(endedFailures(failing, this.#clock.now()));
  }
}
