import type { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';

/** Lets time pass, a little at a time, until the condition holds: for a node that waits for its clock and for real sockets. */
export async function passUntil(clock: FakeClock, condition: () => boolean): Promise<void> {
  await until(async () => {
    if (condition()) return true;
    await clock.advance(10);
    return condition();
  });
}
