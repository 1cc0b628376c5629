// Errors are known by what they tell, never by their class: a transport of the caller's, or of another copy of the package, has classes of its own.
import { errorCodeOf } from '../../base/errors.ts';
import { readApiFailure } from '../resources/error-class.ts';
import { ApiError, maxMessageLength } from '../transport/api-error.ts';

/** True for an HTTP error of any status, an ERROR event, and anything that is no event of this watch. */
export function isRefusal(failure: unknown): boolean {
  return failure !== undefined && (isBrokenAnswer(failure) || hasHttpFailed(failure));
}

/** A refusal that no list mends, as a list does where the server has forgotten a version. */
export function isLastingRefusal(failure: unknown): boolean {
  return isRefusal(failure) && !isExpired(failure);
}

/** What came is no event of this watch, or no list; or the error tells nothing. */
export function isBrokenAnswer(failure: unknown): boolean {
  const { status, reason } = readApiFailure(failure);
  return reason === 'BrokenAnswer' || (status === undefined && reason === undefined);
}

/** An HTTP error of 300 and above, or an ERROR event. */
export function hasHttpFailed(failure: unknown): boolean {
  return (readApiFailure(failure).status ?? 0) >= 300;
}

/** No answer came at all, and nobody has waited for it too long: the server has said nothing. */
export function hasNoAnswer(failure: unknown): boolean {
  const { status, reason } = readApiFailure(failure);
  if (hasBrokenOff(failure)) return false;
  return status === undefined && reason !== undefined && reason !== 'Timeout' && reason !== 'BrokenAnswer';
}

/** The server has forgotten the version, or the continue token that holds one. */
export function isExpired(failure: unknown): boolean {
  const { status, reason } = readApiFailure(failure);
  return status === 410 || reason === 'Expired' || reason === 'Gone';
}

/** A list that shows less than it was asked to: a copy, or a version of its own, that is older than what is known. */
export class StaleListError extends ApiError {
  constructor(message: string) {
    super({ reason: 'BrokenAnswer', message: message.slice(0, maxMessageLength) });
    this.name = 'StaleListError';
  }
}

/** The list does not fit into one answer. */
export function isAnswerTooLong(failure: unknown): boolean {
  return failure instanceof Error && failure.name === 'AnswerTooLongError';
}

/** The server has not reached the version: it lags behind another one, or etcd was restored. */
export function isTooLarge(failure: unknown): boolean {
  if (failure instanceof StaleListError) return true;
  const { status, message } = readApiFailure(failure);
  return status === 504 && message.includes('Too large resource version');
}

export function isThrottled(failure: unknown): boolean {
  return readApiFailure(failure).status === 429;
}

/** The server does not know the parameters of a streamed list. */
export function isUnknownParameter(failure: unknown): boolean {
  const { status } = readApiFailure(failure);
  return status === 400 || status === 422;
}

/** Nothing listens at the server's address. */
export function isConnectionRefused(failure: unknown): boolean {
  if (!(failure instanceof Error) || readApiFailure(failure).status !== undefined) return false;
  return [failure, failure.cause].some((error) => errorCodeOf(error) === 'ECONNREFUSED');
}

/** The connection broke after the answer had begun. */
export function hasBrokenOff(failure: unknown): boolean {
  if (failure instanceof Error && failure.name === 'BrokenOffError') return true;
  // what another transport says of it
  const { status, reason } = readApiFailure(failure);
  return reason === 'Network' && status !== undefined;
}

/** Nothing was heard for too long. */
export function isSilence(failure: unknown): boolean {
  const { status, reason } = readApiFailure(failure);
  return reason === 'Timeout' && status === undefined;
}

/** How long the server asked to wait, in milliseconds. A date of another client's error counts as no wait: nobody here has the time of day. */
export function retryAfterMsOf(failure: unknown): number | undefined {
  return readApiFailure(failure, Number.POSITIVE_INFINITY).retryAfterMs;
}

/** A watch that has ended. */
export interface EndedWatch {
  /** What ended it; undefined when the server ended it in good order. */
  readonly failure: unknown;
  /** True when an event or a bookmark came. */
  readonly hasBroughtSomething: boolean;
}

/** After so many watches in a row that brought nothing, a list comes first, whatever ended them. */
const emptyWatchesBeforeList = 3;

/**
 * True when the next watch may go on from where this one stood. False means that a list must come first: the server
 * refused the watch, or answered it and brought nothing, so that changes could be missed for ever. A server on which
 * etcd was restored is silent to a watch from a resourceVersion that it has not reached yet. A proxy that cuts every watch
 * before its answer lets lists through. `emptyInARow` counts the watches that brought nothing since the last list, this one
 * included.
 */
export function mayGoOnAfter({ failure, hasBroughtSomething }: EndedWatch, emptyInARow: number): boolean {
  if (isRefusal(failure)) return false;
  if (hasBroughtSomething) return true;
  if (emptyInARow >= emptyWatchesBeforeList) return false;
  return hasNoAnswer(failure);
}
