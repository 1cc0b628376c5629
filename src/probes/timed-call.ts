import { setImmediate as nextTurn } from 'node:timers/promises';
import { onAbort } from '../concurrency/aborts.ts';
import type { Clock } from '../seams/clock.ts';

/** How a call has ended. `timeout`: in time it has said nothing. `given-up`: nobody wants to know any more. */
export type CallEnd =
  | { readonly kind: 'answer'; readonly value: unknown }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'given-up' };

export interface TimedCall {
  /** Never rejects. */
  readonly end: Promise<CallEnd>;
  /** Resolves when the call itself has settled, which may be later than `end`, or never. Never rejects. */
  readonly settled: Promise<void>;
}

export interface TimedCallLimits {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Gives the call up. */
  readonly signal: AbortSignal;
}

/**
 * Calls an injected function with a signal that aborts after `timeoutMs`. An answer that the function still gives within a
 * turn of the event loop counts; what it then throws does not. Throws what a clock throws that sets no timer: the function
 * is not called without a limit.
 */
export function timedCall(call: (signal: AbortSignal) => unknown, { clock, timeoutMs, signal }: TimedCallLimits): TimedCall {
  const controller = new AbortController();
  const { promise: end, resolve } = Promise.withResolvers<CallEnd>();
  if (signal.aborted) return { end: Promise.resolve({ kind: 'given-up' }), settled: Promise.resolve() };
  let isLate = false;
  const cancelTimer = clock.setTimer(() => {
    isLate = true;
    controller.abort(new DOMException('The time of the probe is over', 'TimeoutError'));
    leave();
    void nextTurn().then(() => resolve({ kind: 'timeout' }));
  }, timeoutMs);
  const leave = onAbort(signal, () => {
    cancelTimer();
    resolve({ kind: 'given-up' });
    controller.abort(signal.reason);
  });
  const settled = invoke(call, controller.signal)
    .then(
      (value) => resolve({ kind: 'answer', value }),
      (error: unknown) => resolve(isLate ? { kind: 'timeout' } : { kind: 'error', error }),
    )
    .then(() => {
      cancelTimer();
      leave();
    });
  return { end, settled };
}

async function invoke(call: (signal: AbortSignal) => unknown, signal: AbortSignal): Promise<unknown> {
  return call(signal);
}
