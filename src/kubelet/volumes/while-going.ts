import { untilAborted } from '../../base/concurrency/aborts.ts';

/** The result of a call that may never settle: rejects with the signal's reason when that comes first. */
export async function whileGoing<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return untilAborted(call(), signal);
}
