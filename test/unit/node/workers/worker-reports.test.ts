import { describe, expect, it } from 'vitest';
import { WorkQueue } from '../../../../src/node/workers/work-queue.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { pod, World } from './workers-world.ts';

describe('what the pod workers say of a pod', () => {
  it('names the call under way, what waits for its end, and why the last one failed', async () => {
    const world = new World();
    const now = world.clock.now();
    expect(world.workers.explain('u1')).toBeUndefined();
    await world.update('create', pod('u1'));
    await world.update('update', pod('u1'));
    expect(world.workers.explain('u1')).toEqual({
      ...{ state: 'sync', call: 'syncPod', callSince: now, waiting: 'update' },
      ...{ isStarted: true, isFinished: false, isDeleted: false, isEvicted: false },
      ...{ gracePeriodSeconds: undefined, lastSyncAt: undefined, failure: undefined },
    });
    await world.fail('u1', new Error('no disk'));
    await world.fail('u1', new Error('no disk again'));
    expect(world.workers.explain('u1')).toMatchObject({
      ...{ call: undefined, waiting: undefined, lastSyncAt: now, failure: { message: 'no disk again', attempt: 2, at: now } },
    });
    expect(world.workers.snapshot()).toEqual({ pods: 1, sync: 1, terminating: 0, terminated: 0, calls: 0, failing: 1 });
    await world.update('sync', pod('u1'));
    await world.end('u1');
    expect(world.workers.explain('u1')?.failure).toBeUndefined();
  });

  it('names the end: its grace period and its calls', async () => {
    const world = new World();
    await world.update('create', pod('u1'));
    await world.end('u1');
    await world.update('update', pod('u1', { deletion: 7 }));
    expect(world.workers.explain('u1')).toMatchObject({
      ...{ state: 'terminating', call: 'syncTerminatingPod', isDeleted: true, gracePeriodSeconds: 7 },
    });
    expect(world.workers.snapshot()).toMatchObject({ terminating: 1, calls: 1 });
    await world.end('u1');
    expect(world.workers.explain('u1')).toMatchObject({ state: 'terminated', call: 'syncTerminatedPod' });
    await world.end('u1');
    expect(world.workers.explain('u1')).toMatchObject({ state: 'terminated', call: undefined, isFinished: true });
    expect(world.workers.snapshot()).toEqual({ pods: 1, sync: 0, terminating: 0, terminated: 1, calls: 0, failing: 0 });
  });

  it('names the end of a pod that only the runtime knew', async () => {
    const world = new World();
    await world.updateWith({ updateType: 'kill', runningPod: { uid: 'u1', name: 'n', namespace: 'd' } });
    expect(world.workers.explain('u1')).toMatchObject({ call: 'syncTerminatingRuntimePod' });
  });

  it('names a static pod that waits for another one of its name', async () => {
    const world = new World();
    await world.update('create', pod('u1', { name: 'same', source: 'file' }));
    await world.update('create', pod('u2', { name: 'same', source: 'file' }));
    expect(world.workers.explain('u2')).toMatchObject({ isStarted: false, call: undefined, waiting: 'create' });
  });

  it('takes a call that gave way to a newer update for no failure', async () => {
    const world = new World();
    await world.update('create', pod('u1'));
    await world.update('update', pod('u1', { deletion: 7 }));
    await world.fail('u1', new Error('aborted'));
    expect(world.workers.explain('u1')?.failure).toBeUndefined();
  });

  it('refuses what is no uid', () => {
    expect(() => new World().workers.explain('')).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
  });
});

describe('WorkQueue.dueAt', () => {
  it('says when a pod is due, by the clock as it is now', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    const now = clock.now();
    queue.enqueue('a', 3000);
    expect([queue.dueAt('a'), queue.dueAt('b')]).toEqual([now + 3000, undefined]);
    clock.set(now - 60_000);
    queue.enqueue('b', 1000);
    // a clock that was set back delays nothing
    expect([queue.dueAt('a'), queue.dueAt('b')]).toEqual([now - 57_000, now - 59_000]);
    await clock.advance(3000);
    queue.getWork();
    expect(queue.dueAt('a')).toBeUndefined();
  });
});
