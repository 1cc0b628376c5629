import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after `ms`: true. At once when the signal aborts: false, and the caller leaves. */
export async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
