import { settle } from '../../src/testing/fakes/fake-clock.ts';

/** The unhandled rejections while `act` ran, and a few turns of the event loop after. Each would end the process. */
export async function unhandledRejectionsOf(act: () => unknown): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  // Vitest's own listener would fail the run before the test can name the call.
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', note);
  try {
    await act();
    await settle();
  } finally {
    process.off('unhandledRejection', note);
    for (const listener of others) process.on('unhandledRejection', listener);
  }
  return unhandled;
}
