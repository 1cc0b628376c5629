import { setImmediate as nextTurn } from 'node:timers/promises';
import { type WaitLimits, watchLimits } from '../../base/concurrency/aborts.ts';

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

/**
 * Calls an injected function with a signal that aborts after `timeoutMs`. An answer that the function still gives within a
 * turn of the event loop counts; what it then throws does not. Throws what a clock throws that sets no timer: the function
 * is not called without a limit.
 */
export function timedCall(call: (signal: AbortSignal) => unknown, limits: WaitLimits): TimedCall {
  const controller = new AbortController();
  const { promise: end, resolve } = Promise.withResolvers<CallEnd>();
  if (limits.signal?.aborted) return { end: Promise.resolve({ kind: 'given-up' }), settled: Promise.resolve() };
  let isLate = false;
  const unwatch = watchLimits(limits, {
    onTimeout: () => {
      isLate = true;
      controller.abort(new DOMException('The time of the probe is over', 'TimeoutError'));
      void nextTurn().then(() => resolve({ kind: 'timeout' }));
    },
    onAbort: (reason) => {
      resolve({ kind: 'given-up' });
      controller.abort(reason);
    },
  });
  const settled = invoke(call, controller.signal)
    .then(
      (value) => resolve({ kind: 'answer', value }),
      (error: unknown) => resolve(isLate ? { kind: 'timeout' } : { kind: 'error', error }),
    )
    .then(unwatch);
  return { end, settled };
}

async function invoke(call: (signal: AbortSignal) => unknown, signal: AbortSignal): Promise<unknown> {
  return call(signal);
}
