import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundedChannel } from '../../../src/base/concurrency/bounded-channel.ts';
import { disagreements, quietBatch } from './agreement.ts';
import { type Operation, operations, type WorldOptions, worldOptions } from './operations.ts';
import { Performer } from './perform.ts';
import { World } from './properties-world.ts';
import { runs, seeds } from './seeds.ts';

async function played(sequence: readonly Operation[], options: WorldOptions): Promise<World> {
  const world = new World(options);
  const performer = new Performer(world);
  for (const operation of sequence) await performer.perform(operation);
  return world;
}

describe.each(seeds())('any sequence of what agent, cluster and network do (seed %i)', (seed) => {
  const holds = (property: (sequence: Operation[], options: WorldOptions) => Promise<void>, numRuns: number): Promise<void> =>
    fc.assert(fc.asyncProperty(operations, worldOptions, property), { seed, numRuns: runs(numRuns) });

  it('breaks no invariant on the way, and ends with equal statuses on the server and in the cache', async () => {
    await holds(async (sequence, options) => {
      const world = await played(sequence, options);
      expect(world.violations).toEqual([]);
      await quietBatch(world);
      expect(world.violations).toEqual([]);
      expect(world.client.crossed).toEqual([]);
      expect(disagreements(world)).toEqual([]);
      const { requests } = world.client;
      await world.clock.advance(10_000);
      // with `always` each batch reads the pods whose phase is held back
      if (options.fetchBeforePatch === 'when-unknown') expect(world.client.requests).toBe(requests);
      await world.manager.stop({ drainTimeoutMs: 0 });
      expect(world.clock.pendingTimers).toBe(0);
    }, 200);
  });

  it('ends the same when every hint is lost', async () => {
    const trySend = BoundedChannel.prototype.trySend;
    BoundedChannel.prototype.trySend = () => false;
    try {
      await holds(async (sequence, options) => {
        const world = await played(sequence, options);
        await quietBatch(world);
        expect(world.violations).toEqual([]);
        expect(disagreements(world)).toEqual([]);
      }, 60);
    } finally {
      BoundedChannel.prototype.trySend = trySend;
    }
  });
});
