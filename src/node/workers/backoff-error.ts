// Behaviour of BackoffError and MinBackoffExpiration in pkg/kubelet/container/sync_result.go, v1.36.3.
import { StatusManagerError } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';

/** How deep an error is looked into: one that holds itself is not followed for ever. */
const deepest = 16;

/**
 * What is to be done waits until a time. Pod workers repeat a call that rejects with this error at that time, or
 * up to half of the wait later (`isExact`).
 *
 * @example
 * ```ts
 * import { BackoffError } from 'pod-status-manager/node';
 *
 * // a pod syncer rejects with it
 * const error = new BackoffError('the image is pulled again at noon', Date.UTC(2026, 0, 1, 12));
 * console.log(error.code, new Date(error.until).toISOString()); // ERR_BACKOFF 2026-01-01T12:00:00.000Z
 * ```
 */
export class BackoffError extends StatusManagerError {
  /** When the wait ends, in milliseconds since the epoch. */
  readonly until: number;
  /** True: the call is repeated at that time. False: up to half of the wait later, by chance, so that pods spread. */
  readonly isExact: boolean;

  constructor(message: string, until: number, options: BackoffErrorOptions = {}) {
    const { isExact = false, ...rest } = options;
    super('ERR_BACKOFF', message, rest);
    this.name = 'BackoffError';
    this.until = until;
    this.isExact = isExact;
  }
}

/** What a {@link BackoffError} may say beside the time. */
export interface BackoffErrorOptions extends ErrorOptions {
  /** True for a wait that was drawn by chance already, or that was promised. Default false. */
  readonly isExact?: boolean;
}

/** A call of the agent's own part has failed, and is made again after a wait. The cause, which has all the words, is what the call threw. */
export class FailedCall extends BackoffError {
  /** Which call it was. */
  readonly method: string;

  constructor(method: string, message: string, until: number, cause: unknown) {
    super(message, until, { cause, isExact: true });
    this.name = 'FailedCall';
    this.method = method;
  }
}

/** What a log line says of an error that a call of the pod syncer was rejected with: what a part threw itself, and in which call. */
export function failureFields(error: unknown): { readonly err: unknown; readonly method?: string } {
  return error instanceof FailedCall ? { err: error.cause, method: error.method } : { err: error };
}

/** The end of a wait, as an error tells of it. */
export interface BackoffEnd {
  /** In milliseconds since the epoch. */
  readonly until: number;
  readonly isExact: boolean;
}

/**
 * The wait that ends first of those that the error tells of; undefined where it tells of none. It is looked for in the error, in its
 * `cause`, and in the `errors` of an AggregateError. Never throws.
 */
export function earliestBackoff(error: unknown): BackoffEnd | undefined {
  return callGuarded(() => earliest(error, 0), ignoreFailure);
}

/** When that wait ends. */
export function earliestBackoffEnd(error: unknown): number | undefined {
  return earliestBackoff(error)?.until;
}

function earliest(error: unknown, depth: number): BackoffEnd | undefined {
  if (typeof error !== 'object' || error === null || depth > deepest) return undefined;
  if ('code' in error && error.code === 'ERR_BACKOFF' && 'until' in error && Number.isFinite(error.until)) {
    return { until: error.until as number, isExact: 'isExact' in error && error.isExact === true };
  }
  const parts: unknown[] = error instanceof AggregateError ? error.errors : 'cause' in error ? [error.cause] : [];
  let found: BackoffEnd | undefined;
  for (const part of parts) {
    const end = earliest(part, depth + 1);
    if (end !== undefined && (found === undefined || end.until < found.until)) found = end;
  }
  return found;
}

/** True for an error that says only that a backoff is not over: it stands for no failure of its own. */
export function isOnlyWaiting(error: unknown): boolean {
  const told = callGuarded(() => {
    const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
    return code === 'ERR_BACKOFF' && cause === undefined;
  }, ignoreFailure);
  return told === true;
}
