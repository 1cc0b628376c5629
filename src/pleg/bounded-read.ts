import { RuntimeError } from '../runtime/runtime-error.ts';
import type { Clock } from '../seams/clock.ts';

export interface ReadBounds {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Ends the read; it then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/** Reads no longer than the bounds allow, whatever the runtime does. The read gets a signal that aborts when nobody waits any more. */
export async function boundedRead<T>(what: string, read: (signal: AbortSignal) => Promise<T>, bounds: ReadBounds): Promise<T> {
  const { clock, timeoutMs, signal } = bounds;
  signal.throwIfAborted();
  const { promise: over, reject } = Promise.withResolvers<never>();
  const controller = new AbortController();
  const end = (): void => reject(signal.reason);
  const cancel = clock.setTimer(
    () => reject(new RuntimeError('timeout', what, `the runtime gave no answer within ${timeoutMs} ms`)),
    timeoutMs,
  );
  signal.addEventListener('abort', end);
  try {
    return await Promise.race([read(controller.signal), over]);
  } finally {
    cancel();
    signal.removeEventListener('abort', end);
    controller.abort();
  }
}

/** The same answer, for one who may give up earlier: rejects with the signal's reason when it aborts. */
export function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const end = (): void => reject(signal.reason);
  const over = (): void => signal.removeEventListener('abort', end);
  void answer.then(resolve, reject).then(over);
  if (signal.aborted) end();
  else signal.addEventListener('abort', end);
  return promise;
}
