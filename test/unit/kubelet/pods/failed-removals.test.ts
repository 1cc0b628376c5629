import { describe, expect, it } from 'vitest';
import { FailedRemovals } from '../../../../src/kubelet/pods/failed-removals.ts';
import { FakeClock } from '../../../../src/testing.ts';

describe('what could not be removed', () => {
  it('is due later with each failure, each thing by itself, and at once when it has come back after it was gone', async () => {
    const clock = new FakeClock();
    const removals = new FailedRemovals(clock);
    expect(removals.isDue('a')).toBe(true);
    expect([1, 2, 3, 4, 5, 6, 7].map(() => removals.failed('a').retryInMs / 1000)).toEqual([2, 4, 8, 16, 32, 60, 60]);
    expect([removals.isDue('a'), removals.isDue('b')]).toEqual([false, true]);
    await clock.advance(60_000);
    expect(removals.isDue('a')).toBe(true);
    removals.removed('a');
    expect(removals.failed('a')).toEqual({ attempt: 1, retryInMs: 2000 });
    removals.failed('b');
    removals.keepOnly(new Set(['b']));
    expect([removals.isDue('a'), removals.isDue('b')]).toEqual([true, false]);
  });
});
