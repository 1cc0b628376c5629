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
  readonly #clock: Pick<Clock, 'now'>;
  readonly #recovered: ((ended: EndedFailures) => void) | undefined;
  #failing: Failing | undefined;

  /** `recovered`: told of the first success after failures. */
  constructor(clock: Pick<Clock, 'now'>, recovered?: (ended: EndedFailures) => void) {
    this.#clock = clock;
    this.#recovered = recovered;
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
    const failing = this.#failing;
    this.#failing = undefined;
    if (failing !== undefined) this.#recovered?.(endedFailures(failing, this.#clock.now()));
  }
}
