import { describe, expect, it } from 'vitest';
import { FailureRun } from '../../../src/base/failure-run.ts';
import { FakeClock } from '../../../src/testing.ts';

describe('FailureRun', () => {
  it('counts failures in a row since the first, in the words of the last, and begins anew after a success', async () => {
    const clock = new FakeClock({ start: 1000 });
    const run = new FailureRun(clock);
    expect(run.failing).toBeUndefined();
    run.failed(new Error('no'));
    await clock.advance(500);
    expect(run.failed('never')).toEqual({ message: 'never', since: 1000, attempt: 2 });
    run.succeeded();
    expect(run.failing).toBeUndefined();
    expect(run.failed('again')).toEqual({ message: 'again', since: 1500, attempt: 1 });
  });

  it('tells of the first success after failures, and of no other', async () => {
    const clock = new FakeClock({ start: 1000 });
    const told: object[] = [];
    const run = new FailureRun(clock, (ended) => told.push(ended));
    run.succeeded();
    run.failed('no');
    run.failed('no');
    await clock.advance(700);
    run.succeeded();
    run.succeeded();
    expect(told).toEqual([{ attempt: 2, failingForMs: 700 }]);
    run.failed('no');
    clock.jump(-500_000);
    run.succeeded();
    expect(told[1]).toEqual({ attempt: 1, failingForMs: 0 });
  });

  it('keeps a bounded part of what was said', () => {
    expect(new FailureRun(new FakeClock()).failed('x'.repeat(100_000)).message).toHaveLength(1000);
  });

  it('forgets a failure after a time without another one, unless it is said to go on', async () => {
    const clock = new FakeClock({ start: 1000 });
    const run = new FailureRun(clock, undefined, 500);
    expect(run.goesOn()).toBe(false);
    run.failed('no');
    await clock.advance(499);
    expect([run.goesOn(), run.failing?.attempt]).toEqual([true, 1]);
    await clock.advance(499);
    expect(run.failed('never')).toEqual({ message: 'never', since: 1000, attempt: 2 });
    // what passes counts, wherever the wall clock is set
    clock.jump(10_000);
    expect(run.failing?.attempt).toBe(2);
    await clock.advance(500);
    expect([run.goesOn(), run.failing]).toEqual([false, undefined]);
    expect(run.failed('again')).toEqual({ message: 'again', since: 12_498, attempt: 1 });
  });
});
