import { setTimeout as delay } from 'node:timers/promises';

interface PollOptions {
  readonly withinMs?: number;
  /** What the error shows beside the words. */
  readonly seen?: () => unknown;
}

/** Asks again and again, for what a server does and no event tells. Resolves to the first answer that is not false. */
export async function pollUntil<T>(
  what: string,
  fact: () => T | false | Promise<T | false>,
  { withinMs = 5_000, seen = () => undefined }: PollOptions = {},
): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    const answer = await fact();
    if (answer !== false) return answer;
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${what}; seen: ${JSON.stringify(seen())}`);
    await delay(20);
  }
}
