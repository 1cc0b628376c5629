import { describe, expect, it } from 'vitest';
import { type Clock, safeClock, sleep } from '../../../src/seams/clock.ts';
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

describe('safeClock', () => {
  it.each([
    ['NaN', () => Number.NaN],
    ['a promise', async () => 1],
    [
      'an exception',
      () => {
        throw new Error('no');
      },
    ],
  ])('gives the last time that was a number: %s', (_, broken) => {
    const clock = new FakeClock({ start: 7 });
    let now: () => unknown = () => clock.now();
    const subject = safeClock({ setTimer: clock.setTimer.bind(clock), now: () => now() as number });
    expect(subject.now()).toBe(7);
    now = broken;
    expect(subject.now()).toBe(7);
    now = () => 9;
    expect(subject.now()).toBe(9);
  });

  it('does not call a callback that was cancelled, also when the clock gives nothing to cancel with', async () => {
    const clock = new FakeClock();
    const setTimer = ((callback: () => void, ms: number) => void clock.setTimer(callback, ms)) as unknown as Clock['setTimer'];
    const subject = safeClock({ now: () => 0, setTimer });
    const fired: string[] = [];
    subject.setTimer(() => fired.push('kept'), 10);
    const cancel = subject.setTimer(() => fired.push('cancelled'), 10);
    cancel();
    cancel();
    await clock.advance(10);
    expect(fired).toEqual(['kept']);
  });
});
