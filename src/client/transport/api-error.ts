import { StatusManagerError } from '../../base/errors.ts';

/** What a server or a library said is kept up to this many characters. */
export const maxMessageLength = 500;

/** What an {@link ApiError} is made from. */
export interface ApiErrorOptions {
  /** The HTTP status code. Default: undefined, which means that no answer arrived. */
  readonly status?: number | undefined;
  /**
   * The Status object's `reason` (`NotFound`, `Conflict`, …; `Unknown` when it gives none). Or one of this library's own:
   * `NoStatus` for an error answer that is no Status object, `Timeout`, `Aborted`, `Network` and `BrokenAnswer` for an
   * answer that never came or cannot be read, `NoCredentials` for a request that could not be made,
   * `NotOwner` for one that its guard did not let through: this process is no longer the one that may write.
   */
  readonly reason: string;
  /** One sentence for a person. It must hold no header, token or body. */
  readonly message: string;
  /** How long the server asked to wait, in milliseconds, from `Retry-After`. Default: undefined, it did not ask. */
  readonly retryAfterMs?: number | undefined;
  /** The error behind this one. */
  readonly cause?: unknown;
}

/**
 * A failed request. Its message never holds a header, a token or a request body.
 *
 * @example
 * ```ts
 * import { ApiError, classifyApiError } from 'pod-status-manager';
 *
 * // what a pod client of your own rejects with
 * const error = new ApiError({ status: 429, reason: 'TooManyRequests', message: 'slow down', retryAfterMs: 1000 });
 * console.log(error.code, classifyApiError(error)); // ERR_API throttled
 * ```
 */
export class ApiError extends StatusManagerError {
  /** The HTTP status code; undefined when no answer arrived, and when a stream that had begun well broke off. */
  readonly status: number | undefined;
  /** The Status object's `reason`, or one of this library's own: see `ApiErrorOptions`. */
  readonly reason: string;
  /** How long the server asked to wait, in milliseconds; undefined when it did not ask. */
  readonly retryAfterMs: number | undefined;

  constructor({ status, reason, message, retryAfterMs, cause }: ApiErrorOptions) {
    super('ERR_API', message, cause === undefined ? undefined : { cause });
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A stream broke off after its answer had begun well: the status of that tells nothing of the failure. Known by its name, as the one below. */
export class BrokenOffError extends ApiError {
  constructor(options: Pick<ApiErrorOptions, 'message' | 'cause'>) {
    super({ reason: 'Network', ...options });
    this.name = 'BrokenOffError';
  }
}

/** The answer is longer than the transport takes. Known by its name: another copy of the package has a class of its own. */
export class AnswerTooLongError extends ApiError {
  constructor(label: string, maxBytes: number) {
    super({ reason: 'BrokenAnswer', message: `${label}: the answer is longer than ${maxBytes} bytes` });
    this.name = 'AnswerTooLongError';
  }
}

/**
 * What is kept of an error of the network or of a library: its name, its message and its code, in a new error. The error itself
 * may hold bytes of the answer, as undici's and Node.js's parser errors do, and with them a secret. It has no cause either.
 */
export function networkCause(error: unknown): Error & { readonly code?: string } {
  if (!(error instanceof Error)) return new Error('not an error');
  const { name } = error;
  const kept = new Error(messageOrMessages(error).slice(0, maxMessageLength));
  if (name !== 'Error') kept.name = name;
  return 'code' in error && typeof error.code === 'string' ? Object.assign(kept, { code: error.code }) : kept;
}

/** Node.js leaves the message of several failed addresses empty: each address has an error of its own. */
function messageOrMessages(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  return error.errors.map((one) => (one instanceof Error ? one.message : 'not an error')).join(', ');
}

/** What a {@link networkCause} says, with its code once. */
export function causeText({ name, message, code }: ReturnType<typeof networkCause>): string {
  if (message === '') return code ?? name;
  return code === undefined || message.includes(code) ? message : `${message} (${code})`;
}

/** An error as Node.js makes it for a connection on which nothing has come in time. */
export function timedOut(message: string): Error {
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
}

/** What a request fails with whose caller's signal has aborted. `when`: what it waited for, if anything. */
export function abortedBy(signal: AbortSignal | undefined, label: string, when = ''): ApiError {
  const cause: unknown = signal?.reason;
  const isTimeout = cause instanceof Error && cause.name === 'TimeoutError';
  const message = `${label}: ${isTimeout ? 'timed out' : 'aborted'} by the caller${when === '' ? '' : ` ${when}`}`;
  return new ApiError({ reason: isTimeout ? 'Timeout' : 'Aborted', message, cause });
}
