import { onAbort } from '../concurrency/aborts.ts';
import type { Clock } from '../seams/clock.ts';
import { ApiError } from './transport/api-error.ts';

export interface CallLimits {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

export interface LimitedCall<T> {
  /** What the call answers. Rejects with an `ApiError` of reason `Timeout` or `Aborted` when the wait ends first. */
  readonly answer: Promise<T>;
  /** Resolves when the call itself has settled, which may be later than `answer`, or never. Never rejects. */
  readonly settled: Promise<void>;
}

/** Calls an injected function and waits for its answer no longer than the limits allow. A call that throws is one that rejects. */
export function limitedCall<T>(what: string, call: () => T | PromiseLike<T>, limits: CallLimits): LimitedCall<T> {
  const { clock, timeoutMs, signal } = limits;
  const { promise: answer, resolve, reject } = Promise.withResolvers<T>();
  // the caller may give up before it looks at the answer
  answer.catch(() => {});
  const over = (): void => {
    cancelTimer();
    leave();
  };
  const giveUp = (reason: 'Timeout' | 'Aborted', message: string): void => {
    over();
    reject(new ApiError({ reason, message: `${what} ${message}` }));
  };
  if (signal?.aborted) {
    reject(new ApiError({ reason: 'Aborted', message: `${what} was given up` }));
    return { answer, settled: Promise.resolve() };
  }
  const cancelTimer = clock.setTimer(() => giveUp('Timeout', `gave no answer within ${timeoutMs} ms`), timeoutMs);
  const leave = onAbort(signal, () => giveUp('Aborted', 'was given up'));
  const settled = invoke(call).then(resolve, reject).then(over);
  return { answer, settled };
}

async function invoke<T>(call: () => T | PromiseLike<T>): Promise<T> {
  return call();
}
