import { describe, expect, it } from 'vitest';
import { simulateScheduler } from './simulate-scheduler.ts';

const runs = 100;

describe('the scheduler in virtual time', () => {
  it('fills no node over, binds no pod twice and leaves none, whatever fails', async () => {
    const faults: Record<string, number> = {};
    for (let seed = 1; seed <= runs; seed++) {
      const run = await simulateScheduler(seed);
      expect(run.problems, `seed ${seed}`).toEqual([]);
      for (const [name, count] of Object.entries(run.faults)) faults[name] = (faults[name] ?? 0) + count;
    }
    for (const [name, count] of Object.entries(faults)) expect(count, name).toBeGreaterThanOrEqual(runs / 2);
  });

  it('runs alike with the same seed', async () => {
    const [first, second] = [await simulateScheduler(7), await simulateScheduler(7)];
    expect(first).toEqual(second);
  });
});
