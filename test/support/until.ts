import { setImmediate } from 'node:timers/promises';

const mostMs = 20_000;

/**
 * Turns the event loop until the condition holds: for what nobody tells of, such as bytes on a real socket, a file that
 * another process writes, or the end of that process. What a fake or a promise tells of is awaited itself. No timer runs;
 * the limit is for a test that has failed already.
 */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const limit = Date.now() + mostMs;
  while (!(await condition())) {
    if (Date.now() > limit) throw new Error(`never happened: ${condition}`);
    await setImmediate();
  }
}
