import type { SteadyClock } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import { type EndedFailures, endedFailures } from '../../base/failure-run.ts';
import { classifyApiError } from '../resources/error-class.ts';

/** Events come seldom: where none was tried for so long after the last failure, nobody knows whether the next one fails. */
const forgottenAfterMs = 300_000;

/** Events that were not written, in a row. */
export interface FailedEvents {
  /** Why the last one was not. */
  readonly error: unknown;
  /** When the first one was not, in milliseconds since the epoch. */
  readonly since: number;
  /** How often it has failed. */
  readonly attempt: number;
}

/** Whether events are refused, or do not get there: how often in a row, and since when. Five minutes after the last failure that is forgotten. */
export class EventFailures {
  readonly #clock: SteadyClock;
  readonly #recovered: ((ended: EndedFailures) => void) | undefined;
  /** `since` is to be told; `lastMs` is by `Clock.elapsed`. */
  #last: { readonly error: unknown; readonly since: number; lastMs: number; readonly attempt: number } | undefined;
  /** The log has told of a failure, and none was taken since. */
  #isTold = false;

  /** `recovered`: told of the first event that is taken after failures of which the log has told. */
  constructor(clock: SteadyClock, recovered?: (ended: EndedFailures) => void) {
    this.#clock = clock;
    this.#recovered = recovered;
  }

  /** Returns how many have failed in a row. */
  add(error: unknown): number {
    const lastMs = this.#clock.elapsed();
    const { since = Math.round(this.#clock.now()), attempt = 0 } = this.#current() ?? {};
    this.#last = { error, since, lastMs, attempt: attempt + 1 };
    return attempt + 1;
  }

  /** The log has told of the last failure. */
  told(): void {
    this.#isTold = true;
  }

  /** It fails still, and no try was made. False where it did not fail. */
  goesOn(): boolean {
    const last = this.#current();
    if (last !== undefined) last.lastMs = this.#clock.elapsed();
    return last !== undefined;
  }

  /** One was taken. */
  end(): void {
    const [last, wasTold] = [this.#last, this.#isTold];
    this.#last = undefined;
    this.#isTold = false;
    if (last !== undefined && wasTold) this.#recovered?.(endedFailures(last, this.#clock.now()));
  }

  /** Undefined where the last one was taken or is long ago, and before the first. */
  get failing(): FailedEvents | undefined {
    const last = this.#current();
    if (last === undefined) return undefined;
    const { error, since, attempt } = last;
    return { error, since, attempt };
  }

  #current() {
    return this.#last !== undefined && this.#clock.elapsed() - this.#last.lastMs < forgottenAfterMs ? this.#last : undefined;
  }
}

/** The namespace of the event is gone, or is being deleted and takes nothing new: no event of it can be written, and nothing is wrong. */
export function isOfGoneNamespace(error: unknown): boolean {
  const errorClass = classifyApiError(error);
  // of an event that is created, nothing but its namespace can be missing
  return errorClass === 'gone' || (errorClass === 'forbidden' && errorText(error).includes('because it is being terminated'));
}
