import { type WaitLimits, watchLimits } from '../../base/concurrency/aborts.ts';
import { ApiError } from '../transport/api-error.ts';

export interface LimitedCall<T> {
  /** What the call answers. Rejects with an `ApiError` of reason `Timeout` or `Aborted` when the wait ends first. */
  readonly answer: Promise<T>;
  /** Resolves when the call itself has settled, which may be later than `answer`, or never. Never rejects. */
  readonly settled: Promise<void>;
}

/** Calls an injected function and waits for its answer no longer than the limits allow. A call that throws is one that rejects. */
export function limitedCall<T>(what: string, call: () => T | PromiseLike<T>, limits: WaitLimits): LimitedCall<T> {
  const { promise: answer, resolve, reject } = Promise.withResolvers<T>();
  // the caller may give up before it looks at the answer
  answer.catch(() => {});
  const cut = (reason: 'Timeout' | 'Aborted', message: string) => (): void =>
    reject(new ApiError({ reason, message: `${what} ${message}` }));
  const onTimeout = cut('Timeout', `gave no answer within ${limits.timeoutMs} ms`);
  const onAbort = cut('Aborted', 'was given up');
  if (limits.signal?.aborted) {
    onAbort();
    return { answer, settled: Promise.resolve() };
  }
  const end = watchLimits(limits, { onTimeout, onAbort });
  const settled = invoke(call).then(resolve, reject).then(end);
  return { answer, settled };
}

async function invoke<T>(call: () => T | PromiseLike<T>): Promise<T> {
  return call();
}
