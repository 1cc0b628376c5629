import { type ApiFailure, classOf, type ErrorClass, readApiFailure } from '../../client/resources/error-class.ts';
import type { Verb } from '../events/request-event.ts';

/** A request that failed, with what the failure means. */
export class RequestFailure extends Error {
  readonly verb: Verb;
  readonly errorClass: ErrorClass;
  /** What the pod client rejected with. */
  override readonly cause: unknown;
  /** What the cause tells of the answer. */
  readonly failure: ApiFailure;
  /** Resolves when the pod client's promise has settled; undefined when it had settled by the time of the failure. */
  readonly settled: Promise<void> | undefined;

  constructor(verb: Verb, errorClass: ErrorClass, cause: unknown, settled?: Promise<void>, failure = readApiFailure(cause)) {
    super(failure.message);
    this.verb = verb;
    this.errorClass = errorClass;
    this.cause = cause;
    this.failure = failure;
    this.settled = settled;
  }

  /**
   * The failure that a pod client's error stands for. `nowMs` is needed for a `Retry-After` that is a date. `wasAborted`: the
   * manager gives up its requests. A client that says so by itself (one that was closed, say) is unavailable.
   */
  static of(verb: Verb, cause: unknown, nowMs: number, wasAborted: boolean): RequestFailure {
    const failure = readApiFailure(cause, nowMs);
    const errorClass = classOf(failure);
    return new RequestFailure(
      verb,
      errorClass === 'aborted' && !wasAborted ? 'unavailable' : errorClass,
      cause,
      undefined,
      failure,
    );
  }
}
