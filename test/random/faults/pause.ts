import { setTimeout as delay } from 'node:timers/promises';

export const pause = (ms: number): Promise<void> => delay(ms);

/** Tries again, soon, until it succeeds; gives up only when the signal aborts. */
export async function persist<T>(attempt: () => Promise<T>, signal: AbortSignal, everyMs = 100): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) throw error;
      await pause(everyMs);
    }
  }
}

/** Resolves to true as soon as `fact` is true, to false after `timeoutMs`. A check that rejects counts as false. */
export async function eventually(fact: () => boolean | Promise<boolean>, timeoutMs: number, everyMs = 50): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (await Promise.resolve(fact()).catch(() => false)) return true;
    if (performance.now() > deadline) return false;
    await pause(everyMs);
  }
}
