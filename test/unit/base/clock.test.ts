import { describe, expect, it } from 'vitest';
import { type Clock, safeClock, sleep, systemClock } from '../../../src/base/clock.ts';
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
  it('is made once for a clock: parts that get a safe one share it, and its methods may be taken from it', () => {
    const clock = safeClock(new FakeClock({ start: 7 }));
    const { now, elapsed } = clock;
    expect([now(), elapsed() - clock.elapsed()]).toEqual([7, 0]);
    expect(safeClock(clock)).toBe(clock);
    expect(safeClock(systemClock)).toBe(systemClock);
  });

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

  it('gives an elapsed time that only grows, whatever the clock answers', () => {
    const answers: unknown[] = [5, 3, Number.NaN, 'x', 7];
    const subject = safeClock({ now: () => 0, setTimer: () => () => {}, elapsed: () => answers.shift() as number });
    expect([1, 2, 3, 4, 5].map(() => subject.elapsed())).toEqual([5, 5, 5, 5, 7]);
  });

  it('counts what passes for a clock that has only a wall clock: a step of that is no time, a timer that fired is', async () => {
    const clock = new FakeClock();
    const subject = safeClock({ now: () => clock.now(), setTimer: clock.setTimer.bind(clock) });
    const before = subject.elapsed();
    clock.jump(3_600_000);
    expect(subject.elapsed() - before).toBeLessThan(3_000_000);
    let atFire = 0;
    subject.setTimer(() => {
      atFire = subject.elapsed();
    }, 86_400_000);
    await clock.advance(86_400_000);
    expect(atFire - before).toBeGreaterThanOrEqual(86_400_000);
    clock.jump(-7_200_000);
    expect(subject.elapsed()).toBeGreaterThanOrEqual(atFire);
  });
});
