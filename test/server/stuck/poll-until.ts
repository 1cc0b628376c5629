import { setTimeout as delay } from 'node:timers/promises';

const mostMs = 5_000;

/** Asks again and again, for what a server does and no event tells. */
export async function pollUntil(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  seen = (): unknown => undefined,
): Promise<void> {
  const end = performance.now() + mostMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within ${mostMs} ms: ${what}; seen: ${JSON.stringify(seen())}`);
    await delay(20);
  }
}
