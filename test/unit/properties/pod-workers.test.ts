import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs, seeds } from './seeds.ts';
import { type Operation, type Plan, plans, workerOperations } from './workers-operations.ts';
import { someDesired, WorkersWorld } from './workers-world.ts';

async function played(sequence: readonly Operation[], planned: readonly Plan[]): Promise<WorkersWorld> {
  const world = new WorkersWorld(planned);
  for (const operation of sequence) await world.perform(operation);
  return world;
}

describe.each(seeds())('any sequence of updates, kills and failures of pods (seed %i)', (seed) => {
  const holds = (property: (sequence: Operation[], planned: Plan[]) => Promise<void>, numRuns: number): Promise<void> =>
    fc.assert(fc.asyncProperty(workerOperations, plans, property), { seed, numRuns: runs(numRuns) });

  it('makes one call of a pod at a time, forgets no end, and leaves every pod over or waiting', async () => {
    await holds(async (sequence, planned) => {
      const world = await played(sequence, planned);
      expect(world.violations).toEqual([]);
      await world.quiet(someDesired);
      expect(world.violations).toEqual([]);
      await world.stop();
      expect(world.violations).toEqual([]);
    }, 150);
  });

  it('can be cut short by a stop, which leaves no timer, and after which nothing is called', async () => {
    await holds(async (sequence, planned) => {
      const world = await played(sequence, planned);
      await world.stop();
      expect(world.violations).toEqual([]);
    }, 150);
  });
});
