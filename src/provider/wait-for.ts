import { type Clock, sleep } from '../seams/clock.ts';

export interface WaitLimits {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The reason that nobody sees: to make an error for each wait would cost more than the wait. */
const waited = 'waited';

/** Resolves with the first of the promises that settles, after a time, or when `signal` aborts. No promise may reject. */
export async function waitFor(promises: readonly Promise<void>[], { clock, timeoutMs, signal }: WaitLimits): Promise<void> {
  const over = new AbortController();
  try {
    const limits = AbortSignal.any([signal, over.signal]);
    await Promise.race([...promises, sleep(clock, Math.max(0, timeoutMs), limits)]);
  } finally {
    over.abort(waited);
  }
}
