import { type Clock, systemClock } from '../clock.ts';
import { ignoreFailure } from '../guard.ts';

/** A clock that is looked at so often, in the machine's milliseconds, and has not moved, stands still: about a second in all. */
const looks = { count: 4, everyMs: 250 };

/**
 * Resolves to true once `work` has settled, either way, and to false where the clock stands still meanwhile. Such a clock is a
 * test's, and nobody moves it: what waits for time to pass on it would never end. Never rejects. `machine`: what tells how long
 * the clock has not moved.
 */
export async function settlesUnlessStill(
  work: PromiseLike<unknown>,
  clock: Clock,
  machine: Clock = systemClock,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let seen = clock.now();
  let still = 0;
  const look = (): void => {
    const now = clock.now();
    still = now === seen ? still + 1 : 0;
    seen = now;
    if (still === looks.count) resolve(false);
    else arm();
  };
  let cancel = (): void => {};
  const arm = (): void => {
    cancel = machine.setTimer(look, looks.everyMs, { keepAlive: true });
  };
  arm();
  const settled = (): void => resolve(true);
  Promise.resolve(work).then(settled, settled).catch(ignoreFailure);
  const hasSettled = await promise;
  cancel();
  return hasSettled;
}
