import { membersOf } from '../../api/json/json.ts';
import { longestRetryAfterMs } from '../../base/concurrency/backoff.ts';
import { textBeginning } from '../../base/text-beginning.ts';
import { parseRetryAfter } from '../transport/api-answer.ts';
import { maxMessageLength } from '../transport/api-error.ts';

/** What a failed request means to the manager. ARCHITECTURE.md says what follows from each. */
export type ErrorClass =
  | 'gone'
  | 'conflict'
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'throttled'
  | 'unavailable'
  | 'timeout'
  | 'broken-answer'
  | 'aborted';

/** What an error tells of the answer, whichever client made it. */
export interface ApiFailure {
  /** HTTP status; undefined when no answer arrived. */
  readonly status: number | undefined;
  /** The `reason` of the Status object, or of an `ApiError`; undefined when the error tells of neither. */
  readonly reason: string | undefined;
  /** How long the server asked to wait, in milliseconds; never negative. */
  readonly retryAfterMs: number | undefined;
  /** The Status object's message, else the error's own; at most 500 characters. */
  readonly message: string;
}

/** A failure in words. */
export interface LastError {
  /** What the failure means. */
  readonly errorClass: ErrorClass;
  /** At most 500 characters. It never holds a header, a token or a request body. */
  readonly message: string;
  /** In milliseconds since the epoch. */
  readonly at: number;
}

/** A failure of something that is tried again. */
export interface RetriedError extends LastError {
  /** A short word that stays the same: see `Problem`. */
  readonly kind: string;
  /** What would help, as one sentence. */
  readonly help: string | undefined;
  /** When it is tried again, in milliseconds since the epoch. */
  readonly retryAt: number;
  /** When the first failure in a row came, in milliseconds since the epoch; `at` where nobody has counted. */
  readonly since: number;
  /** How many tries have failed in a row; 1 where nobody has counted. */
  readonly attempt: number;
}

const classOfStatus: Readonly<Record<number, ErrorClass>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  408: 'timeout',
  409: 'conflict',
  413: 'invalid',
  415: 'invalid',
  422: 'invalid',
  429: 'throttled',
};

const classOfReason: Readonly<Record<string, ErrorClass>> = {
  Timeout: 'timeout',
  Aborted: 'aborted',
  BrokenAnswer: 'broken-answer',
  NoCredentials: 'unauthorized',
  // who is the owner may change: it is tried again later, and nobody waits for it longer than for a server that is not there
  NotOwner: 'unavailable',
};

/**
 * The class of anything a `PodClient` rejected with: an `ApiError`, client-node's `ApiException` (status in `code`), or
 * any object with a number as `status` or `code`. A 404 is `gone` only when a Status object gave the reason NotFound: a
 * proxy answers 404 too. An error that tells of no answer is `unavailable`.
 *
 * @example
 * ```ts
 * import { classifyApiError } from 'pod-status-manager';
 *
 * console.log(classifyApiError({ status: 409 }), classifyApiError(new Error('socket hang up'))); // conflict unavailable
 * ```
 */
export function classifyApiError(error: unknown): ErrorClass {
  return classOf(readApiFailure(error));
}

/** How long a server that has no room asked to be left alone, as far as anybody waits; undefined for any other failure, and where it did not say. */
export function askedWaitMs({ status = 0, retryAfterMs }: ApiFailure): number | undefined {
  if (retryAfterMs === undefined || (status !== 429 && status < 500)) return undefined;
  return Math.min(retryAfterMs, longestRetryAfterMs);
}

/** The answer; undefined where the server has no such object. */
export async function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (classifyApiError(error) === 'gone') return undefined;
    throw error;
  }
}

export function classOf({ status, reason }: ApiFailure): ErrorClass {
  if (status === 404) return reason === 'NotFound' ? 'gone' : 'unavailable';
  if (status !== undefined && status >= 400) return classOfStatus[status] ?? 'unavailable';
  return (reason !== undefined && Object.hasOwn(classOfReason, reason) ? classOfReason[reason] : undefined) ?? 'unavailable';
}

/** What is known of an error with a getter that throws, or with a member that cannot become text. */
const unreadable: ApiFailure = Object.freeze({
  status: undefined,
  reason: undefined,
  retryAfterMs: undefined,
  message: 'the pod client rejected with an error that cannot be read',
});

/** Reads an error that a `PodClient` rejected with. `nowMs` is needed for a `Retry-After` that is a date. Never throws. */
export function readApiFailure(error: unknown, nowMs = 0): ApiFailure {
  try {
    return failureOf(error, nowMs);
  } catch {
    return unreadable;
  }
}

function failureOf(error: unknown, nowMs: number): ApiFailure {
  const { status, code, reason, retryAfterMs, message, body, headers } = membersOf(error);
  const answer = membersOf(typeof body === 'string' ? parsed(body) : body);
  const answered = answer.kind === 'Status' ? answer : {};
  const seconds = membersOf(answered.details).retryAfterSeconds;
  return {
    status: [status, code].find((value) => typeof value === 'number'),
    reason: text(answered.reason) ?? text(reason),
    retryAfterMs:
      positive(retryAfterMs) ??
      positive(parseRetryAfter(headerOf(headers), nowMs)) ??
      positive(typeof seconds === 'number' ? seconds * 1000 : undefined),
    // client-node's own message repeats the body and the headers of the answer
    message: shownMessage(answered.message, body === undefined ? message : `HTTP status ${String(code)}`, error),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function headerOf(headers: unknown): string | undefined {
  const entry = Object.entries(membersOf(headers)).find(([name]) => name.toLowerCase() === 'retry-after');
  return typeof entry?.[1] === 'string' ? entry[1] : undefined;
}

function positive(ms: unknown): number | undefined {
  return typeof ms === 'number' && ms >= 0 ? ms : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function nameOf(error: unknown): string {
  return error === null ? 'null' : typeof error;
}

function shownMessage(answered: unknown, own: unknown, error: unknown): string {
  return textBeginning(text(answered) ?? text(own) ?? `the pod client rejected with ${nameOf(error)}`, maxMessageLength);
}
