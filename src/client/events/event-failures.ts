import type { SteadyClock } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import { type EndedFailures, type Failing, FailureRun } from '../../base/failure-run.ts';
import { frozenProblem, type Problem } from '../../base/problem.ts';
import { classifyApiError } from '../resources/error-class.ts';

/** Events come seldom: where none was tried for so long after the last failure, nobody knows whether the next one fails. */
const forgottenAfterMs = 300_000;

/** Events that were not written, in a row. */
export interface FailedEvents extends Failing {
  /** Why the last one was not. */
  readonly error: unknown;
}

/** Whether events are refused, or do not get there: how often in a row, and since when. Five minutes after the last failure that is forgotten. */
export class EventFailures {
  readonly #run: FailureRun;
  #error: unknown;
  /** The log has told of a failure, and none was taken since. */
  #isTold = false;

  /** `recovered`: told of the first event that is taken after failures of which the log has told. */
  constructor(clock: SteadyClock, recovered?: (ended: EndedFailures) => void) {
    const told = (ended: EndedFailures): void => {
      if (this.#isTold) recovered?.(ended);
    };
    this.#run = new FailureRun(clock, told, forgottenAfterMs);
  }

  failed(error: unknown): FailedEvents {
    this.#error = error;
    return { ...this.#run.failed(error), error };
  }

  /** The log has told of the last failure. */
  told(): void {
    this.#isTold = true;
  }

  /** It fails still, and no try was made. False where it did not fail. */
  goesOn(): boolean {
    return this.#run.goesOn();
  }

  /** One was taken. */
  succeeded(): void {
    this.#error = undefined;
    this.#run.succeeded();
    this.#isTold = false;
  }

  /** Undefined where the last one was taken or is long ago, and before the first. */
  get failing(): FailedEvents | undefined {
    const { failing } = this.#run;
    return failing && { ...failing, error: this.#error };
  }
}

/** Events that the apiserver refuses, or that do not get there, as an agent tells of them. */
export function eventsProblem({ message, since, attempt }: Failing): Problem {
  const help = 'Let the agent create and patch events (deploy/rbac.yaml), or see why the apiserver does not answer.';
  return frozenProblem({ kind: 'events', message: `events are not written: ${message}`, since, attempt, help });
}

/** The namespace of the event is gone, or is being deleted and takes nothing new: no event of it can be written, and nothing is wrong. */
export function isOfGoneNamespace(error: unknown): boolean {
  const errorClass = classifyApiError(error);
  // of an event that is created, nothing but its namespace can be missing
  return errorClass === 'gone' || (errorClass === 'forbidden' && errorText(error).includes('because it is being terminated'));
}
