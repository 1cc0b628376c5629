import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves to true after `ms`, or at once to false when the signal aborts; the caller then returns. */
export async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
