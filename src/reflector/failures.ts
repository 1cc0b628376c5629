import { AnswerTooLongError, ApiError, maxMessageLength } from '../client/transport/api-error.ts';
import { errorCodeOf } from '../seams/error-code.ts';

/** True for an HTTP error of any status, an ERROR event, and anything that is no event of this watch. */
export function isRefusal(failure: unknown): boolean {
  return failure !== undefined && (isBrokenAnswer(failure) || hasHttpFailed(failure));
}

/** What came is no event of this watch, or no list. */
export function isBrokenAnswer(failure: unknown): boolean {
  return !(failure instanceof ApiError) || failure.reason === 'BrokenAnswer';
}

/** An HTTP error of 300 and above, or an ERROR event. */
export function hasHttpFailed(failure: unknown): boolean {
  return failure instanceof ApiError && (failure.status ?? 0) >= 300;
}

/** The server has forgotten the version, or the continue token that holds one. */
export function isExpired(failure: unknown): boolean {
  return failure instanceof ApiError && (failure.status === 410 || failure.reason === 'Expired' || failure.reason === 'Gone');
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
  return failure instanceof AnswerTooLongError;
}

/** The server has not reached the version: it lags behind another one, or etcd was restored. */
export function isTooLarge(failure: unknown): boolean {
  if (failure instanceof StaleListError) return true;
  return failure instanceof ApiError && failure.status === 504 && failure.message.includes('Too large resource version');
}

export function isThrottled(failure: unknown): boolean {
  return failure instanceof ApiError && failure.status === 429;
}

/** The server does not know the parameters of a streamed list. */
export function isUnknownParameter(failure: unknown): boolean {
  return failure instanceof ApiError && (failure.status === 400 || failure.status === 422);
}

/** Nothing listens at the server's address. */
export function isConnectionRefused(failure: unknown): boolean {
  if (!(failure instanceof ApiError) || failure.status !== undefined) return false;
  return errorCodeOf(failure.cause) === 'ECONNREFUSED';
}

/** The connection broke after the answer had begun. */
export function hasBrokenOff(failure: unknown): boolean {
  return failure instanceof ApiError && failure.reason === 'Network' && failure.status !== undefined;
}

/** Nothing was heard for too long. */
export function isSilence(failure: unknown): boolean {
  return failure instanceof ApiError && failure.reason === 'Timeout' && failure.status === undefined;
}

/** How long the server asked to wait, in milliseconds. */
export function retryAfterMsOf(failure: unknown): number | undefined {
  return failure instanceof ApiError ? failure.retryAfterMs : undefined;
}
