// Behaviour of BackoffError and MinBackoffExpiration in pkg/kubelet/container/sync_result.go, v1.36.3.
import { StatusManagerError } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';

/** How deep an error is looked into: one that holds itself is not followed for ever. */
const deepest = 16;

/**
 * What is to be done waits until a time. Pod workers repeat a call that rejects with this error at that time.
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

  constructor(message: string, until: number, options?: ErrorOptions) {
    super('ERR_BACKOFF', message, options);
    this.name = 'BackoffError';
    this.until = until;
  }
}

/** A call of the agent's own part has failed, and is made again after a wait. The cause, which has all the words, is what the call threw. */
export class FailedCall extends BackoffError {
  /** Which call it was. */
  readonly method: string;

  constructor(method: string, message: string, until: number, cause: unknown) {
    super(message, until, { cause });
    this.name = 'FailedCall';
    this.method = method;
  }
}

/** What a log line says of an error that a call of the pod syncer was rejected with: what a part threw itself, and in which call. */
export function failureFields(error: unknown): { readonly err: unknown; readonly method?: string } {
  return error instanceof FailedCall ? { err: error.cause, method: error.method } : { err: error };
}

/**
 * When the earliest wait that the error tells of ends, in milliseconds since the epoch; undefined where it tells of none. It
 * is looked for in the error, in its `cause`, and in the `errors` of an AggregateError. Never throws.
 */
export function earliestBackoffEnd(error: unknown): number | undefined {
  return callGuarded(() => earliest(error, 0), ignoreFailure);
}

function earliest(error: unknown, depth: number): number | undefined {
  if (typeof error !== 'object' || error === null || depth > deepest) return undefined;
  if ('code' in error && error.code === 'ERR_BACKOFF' && 'until' in error && Number.isFinite(error.until)) {
    return error.until as number;
  }
  const parts: unknown[] = error instanceof AggregateError ? error.errors : 'cause' in error ? [error.cause] : [];
  let found: number | undefined;
  for (const part of parts) {
    const until = earliest(part, depth + 1);
    if (until !== undefined && (found === undefined || until < found)) found = until;
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
