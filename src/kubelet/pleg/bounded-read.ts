import { callWithin, type WaitLimits } from '../../base/concurrency/aborts.ts';
import { RuntimeError } from '../runtime/runtime-error.ts';

/** Reads no longer than the limits allow, whatever the runtime does. The read gets a signal that aborts when nobody waits any more. */
export function boundedRead<T>(what: string, read: (signal: AbortSignal) => Promise<T>, limits: WaitLimits): Promise<T> {
  const late = (): RuntimeError => new RuntimeError('timeout', what, `the runtime gave no answer within ${limits.timeoutMs} ms`);
  return callWithin(read, { ...limits, late });
}
