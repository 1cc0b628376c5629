import { backoffMs, longestRetryAfterMs } from '../../base/concurrency/backoff.ts';
import { type ApiFailure, classOf, type ErrorClass, readApiFailure } from '../../client/resources/error-class.ts';
import type { Verb } from '../events/status-manager-events.ts';

/** A request that failed, with what the failure means. */
export class RequestFailure extends Error {
  readonly verb: Verb;
  readonly errorClass: ErrorClass;
  /** What the pod client rejected with. */
  override readonly cause: unknown;
  /** What the cause says of the apiserver's answer. */
  readonly answer: ApiFailure;
  /** Resolves when the pod client's promise has settled; undefined when it had settled by the time of the failure. */
  readonly settled: Promise<void> | undefined;

  constructor(verb: Verb, errorClass: ErrorClass, cause: unknown, settled?: Promise<void>, answer = readApiFailure(cause)) {
    super(answer.message);
    this.name = 'RequestFailure';
    this.verb = verb;
    this.errorClass = errorClass;
    this.cause = cause;
    this.answer = answer;
    this.settled = settled;
  }

  /**
   * The failure that a pod client's error stands for. `nowMs` is needed for a `Retry-After` that is a date. `wasAborted`: the
   * manager gives up its requests. A client that says so by itself (one that was closed, say) is unavailable.
   */
  static of(verb: Verb, cause: unknown, nowMs: number, wasAborted: boolean): RequestFailure {
    const answer = readApiFailure(cause, nowMs);
    const errorClass = classOf(answer);
    const told = errorClass === 'aborted' && !wasAborted ? 'unavailable' : errorClass;
    return new RequestFailure(verb, told, cause, undefined, answer);
  }
}

/** The bounds of every wait after a failure. */
export const backoff = { baseMs: 1000, capMs: 60_000 } as const;

/** How long the server asked to wait, five minutes at the longest; 0 when it asked for nothing. */
export function askedMs({ answer }: RequestFailure): number {
  return Math.min(answer.retryAfterMs ?? 0, longestRetryAfterMs);
}

export interface ThrottlingOptions {
  readonly random: () => number;
}

/** The pauses of the whole client, after answers that concern every request: too many requests, or no valid credentials. */
export class Throttling {
  readonly #options: ThrottlingOptions;
  #failuresInARow = 0;

  constructor(options: ThrottlingOptions) {
    this.#options = options;
  }

  /** A request has succeeded: the next pause is short again. */
  succeed(): void {
    this.#failuresInARow = 0;
  }

  /**
   * How long the whole client pauses after this failure; undefined for one that concerns its pod alone. What the server asked
   * for, and never less than our own backoff. Requests that were under way together and failed together count as one failure.
   * `pauseLeftMs`: what is left of the pause that runs already, if there is one.
   */
  pauseMs(failure: RequestFailure, pauseLeftMs: number | undefined): number | undefined {
    if (failure.errorClass !== 'throttled' && failure.errorClass !== 'unauthorized') return undefined;
    const { random } = this.#options;
    if (pauseLeftMs !== undefined) return Math.max(askedMs(failure), pauseLeftMs);
    this.#failuresInARow++;
    return Math.max(askedMs(failure), backoffMs(this.#failuresInARow, { ...backoff, random }));
  }
}
