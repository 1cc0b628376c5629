import { describe, expect, it } from 'vitest';
import { TimeLeft } from '../../../../src/base/concurrency/aborts.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

const never = new Promise<void>(() => {});

describe('TimeLeft', () => {
  it('is shared by all work: each is given what is left, and no more than it may have', async () => {
    const clock = new FakeClock();
    const left = new TimeLeft(clock, 1_000);
    expect([left.ms(), left.ms(300)]).toEqual([1_000, 300]);
    const first = left.allows(never, 400);
    await clock.advance(400);
    expect([await first, left.ms()]).toEqual([false, 600]);
    expect(await left.allows(Promise.resolve())).toBe(true);
    const last = left.allows(never);
    await clock.advance(600);
    expect([await last, left.ms(), await left.allows(Promise.resolve()), clock.pendingTimers]).toEqual([false, 0, true, 0]);
  });

  it.each([-3_600_000, 3_600_000])('is the same when the wall clock is set by %s ms', async (ms) => {
    const clock = new FakeClock();
    const left = new TimeLeft(clock, 1_000);
    await clock.advance(300);
    clock.jump(ms);
    expect(left.ms()).toBe(700);
  });

  it('counts work that fails in time as ended', async () => {
    const left = new TimeLeft(new FakeClock(), 1_000);
    expect(await left.allows(Promise.reject(new Error('no')))).toBe(true);
  });
});
