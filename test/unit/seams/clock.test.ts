import { describe, expect, it } from 'vitest';
import { sleep } from '../../../src/seams/clock.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';

describe('sleep', () => {
  it('resolves after its time', async () => {
    const clock = new FakeClock();
    let isOver = false;
    const paused = sleep(clock, 100, new AbortController().signal).then(() => {
      isOver = true;
    });
    await clock.advance(99);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await paused;
    expect(isOver).toBe(true);
  });

  it('resolves at once when aborted, and leaves no timer', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const paused = sleep(clock, 100, stop.signal);
    expect(clock.pendingTimers).toBe(1);
    stop.abort();
    await paused;
    await sleep(clock, 100, stop.signal);
    expect(clock.pendingTimers).toBe(0);
  });
});
