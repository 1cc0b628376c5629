import { describe, expect, it } from 'vitest';
import { PodWorkers } from '../../../../src/node/workers/pod-workers.ts';
import { WorkQueue } from '../../../../src/node/workers/work-queue.ts';
import { pod, World } from './workers-world.ts';

function worldOf() {
  const world = new World();
  world.isQuick = true;
  const runtimeStatusCache = { get: world.runtimeStatus, getNewerThan: async (uid: string) => world.runtimeStatus(uid) };
  const { podSyncer, clock } = world;
  return { world, workers: new PodWorkers({ podSyncer, runtimeStatusCache, clock, random: () => 0 }) };
}

describe('workers that were given no work queue', () => {
  it('have one that the agent’s loop reads', async () => {
    const { world, workers } = worldOf();
    expect(workers.workQueue).toBeInstanceOf(WorkQueue);
    workers.updatePod({ updateType: 'create', pod: pod('u1') });
    const readable = workers.workQueue.readable();
    await world.clock.advance(60_000);
    expect(await readable).toBe(true);
    for (const podUID of workers.workQueue.getWork()) workers.updatePod({ updateType: 'sync', pod: pod(podUID) });
    await world.clock.advance(0);
    expect(world.takeLog()).toEqual(['sync u1 create 1', 'sync u1 sync 1']);
  });

  it('close it when they stop: its reader ends, and no timer is left', async () => {
    const { world, workers } = worldOf();
    workers.updatePod({ updateType: 'create', pod: pod('u1') });
    await world.clock.advance(0);
    const readable = workers.workQueue.readable();
    expect(world.clock.pendingTimers).toBe(1);
    await workers.stop();
    expect(await readable).toBe(false);
    expect([workers.workQueue.size, world.clock.pendingTimers]).toEqual([0, 0]);
  });
});

describe('workers that were given a work queue', () => {
  it('leave it open when they stop: it may be another’s too', async () => {
    const world = new World();
    world.isQuick = true;
    await world.update('create', pod('u1'));
    await world.workers.stop();
    expect(world.workers.workQueue).toBe(world.queue);
    expect(world.queue.size).toBe(1);
  });
});
