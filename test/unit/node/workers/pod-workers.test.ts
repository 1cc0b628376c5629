import { describe, expect, it } from 'vitest';
import { networkNotReadyMessage } from '../../../../src/node.ts';
import { pod, World } from './workers-world.ts';

describe('the updates of one pod', () => {
  it('begin no call before the code that gave them has gone on', () => {
    const world = new World();
    world.workers.updatePod({ updateType: 'create', pod: pod('u1') });
    expect(world.log).toEqual([]);
  });

  it('are synced one at a time, and of those that wait the newest counts', async () => {
    const world = new World();
    await world.update('create', pod('u1'));
    await world.update('update', pod('u1', { version: '2' }));
    await world.update('update', pod('u1', { version: '3' }));
    expect(world.takeLog()).toEqual(['sync u1 create 1']);
    await world.end('u1');
    expect(world.takeLog()).toEqual(['sync u1 update 3']);
    await world.end('u1');
    expect(world.takeLog()).toEqual([]);
  });

  it('do not wait for another pod', async () => {
    const world = new World();
    await world.update('create', pod('u1'));
    await world.update('create', pod('u2'));
    expect(world.takeLog()).toEqual(['sync u1 create 1', 'sync u2 create 1']);
  });

  it('bring their own mirror pod along', async () => {
    const world = new World();
    await world.updateWith({ updateType: 'create', pod: pod('u1'), mirrorPod: { metadata: { uid: 'm1' } } });
    expect(world.takeLog()).toEqual(['sync u1 create 1 m1']);
  });

  it('put the pod into the work queue for the resync', async () => {
    const world = new World();
    await world.update('create', pod('u1'));
    await world.end('u1');
    expect(await world.waits('u1')).toBe(60);
  });

  it('are measured from the oldest that the call stands for', async () => {
    const seconds: unknown[] = [];
    const sink = { increment: () => {}, set: () => {}, observe: (...args: unknown[]) => void seconds.push(args) };
    const world = new World({ metrics: sink });
    await world.update('create', pod('u1'));
    const startTime = world.clock.now();
    await world.updateWith({ updateType: 'update', pod: pod('u1'), startTime });
    await world.clock.advance(2000);
    await world.updateWith({ updateType: 'sync', pod: pod('u1'), startTime: world.clock.now() });
    await world.end('u1');
    await world.clock.advance(1000);
    await world.end('u1');
    expect(seconds).toEqual([['kubelet_pod_worker_duration_seconds', 3, { operation_type: 'sync' }]]);
  });

  it('are measured by what has passed, also where the clock is set meanwhile', async () => {
    const seconds: unknown[] = [];
    const sink = { increment: () => {}, set: () => {}, observe: (_: string, value: number) => void seconds.push(value) };
    const world = new World({ metrics: sink });
    for (const jumpMs of [3_600_000, -7_200_000]) {
      await world.updateWith({ updateType: 'sync', pod: pod('u1'), startTime: world.clock.now() - 500 });
      world.clock.jump(jumpMs);
      await world.clock.advance(1500);
      await world.end('u1');
    }
    expect(seconds).toEqual([2, 2]);
  });
});

describe('a call that fails', () => {
  it.each([
    [new Error('failed'), 10],
    [undefined, 10],
    [new Error('network is not ready: cni config uninitialized'), 1],
    [new Error(`no sandbox: ${networkNotReadyMessage}`), 1],
    [Object.assign(new Error('wait'), { code: 'ERR_BACKOFF', until: Date.UTC(2000, 0, 1) + 20_000 }), 20],
    [new AggregateError([new Error('a'), Object.assign(new Error('b'), { code: 'ERR_BACKOFF', until: 0 })]), 0],
    [Object.assign(new Error('wait'), { code: 'ERR_BACKOFF', until: Date.UTC(2000, 0, 2) }), 60],
  ])('with %o is repeated by the work queue after %i s', async (error, seconds) => {
    const world = new World();
    await world.update('create', pod('u1'));
    await world.fail('u1', error);
    expect(world.takeLog()).toEqual(['sync u1 create 1']);
    expect(await world.waits('u1')).toBe(seconds);
  });

  it('waits up to half as long again, by chance', async () => {
    const world = new World({ random: () => 1 });
    await world.update('create', pod('u1'));
    await world.fail('u1');
    expect(await world.waits('u1')).toBe(15);
  });

  it('is followed by the update that waits, at once', async () => {
    const world = new World();
    await world.update('create', pod('u1'));
    await world.update('update', pod('u1', { version: '2' }));
    await world.fail('u1');
    expect(world.takeLog()).toEqual(['sync u1 create 1', 'sync u1 update 2']);
  });

  it('never ends the pod, whatever it says', async () => {
    const world = new World();
    await world.update('create', pod('u1'));
    await world.fail('u1', { isTerminal: true });
    expect(world.workers.isPodTerminationRequested('u1')).toBe(false);
  });
});

describe('the end of a pod', () => {
  it('follows at once when syncPod says that the pod is terminal, without a grace period', async () => {
    const world = new World();
    await world.update('create', pod('u1', { terminationGracePeriodSeconds: 30 }));
    await world.end('u1', { isTerminal: true });
    expect(world.takeLog()).toEqual(['sync u1 create 1', 'terminating u1 - 1']);
    expect(world.workers.shouldPodContainersBeTerminating('u1')).toBe(true);
    await world.end('u1');
    expect(world.takeLog()).toEqual(['terminated u1']);
    expect(world.workers.shouldPodBeFinished('u1')).toBe(false);
    await world.end('u1');
    expect(world.workers.shouldPodBeFinished('u1')).toBe(true);
  });

  it.each([
    ['deleted', pod('u1', { deletion: 7 }), 7],
    ['failed', pod('u1', { phase: 'Failed', terminationGracePeriodSeconds: 9 }), 9],
    ['succeeded', pod('u1', { phase: 'Succeeded' }), 1],
  ])('begins when the pod is %s', async (_how, changed, grace) => {
    const world = new World();
    await world.update('create', pod('u1'));
    await world.update('update', changed);
    expect(world.open.get('u1')?.signal.aborted).toBe(true);
    await world.fail('u1', world.open.get('u1')?.signal.reason);
    expect(world.takeLog()).toEqual(['sync u1 create 1', `terminating u1 ${grace} 1`]);
  });

  it('waits for a call that does not heed its signal', async () => {
    const world = new World();
    await world.update('create', pod('u1'));
    await world.update('kill', pod('u1'));
    await world.clock.advance(600_000);
    expect(world.takeLog()).toEqual(['sync u1 create 1']);
    await world.end('u1');
    expect(world.takeLog()).toEqual(['terminating u1 1 1']);
  });

  it('is not undone by an update that waits, nor by a later one', async () => {
    const world = new World();
    await world.update('create', pod('u1'));
    await world.update('kill', pod('u1'));
    await world.update('update', pod('u1', { version: '2' }));
    await world.end('u1');
    expect(world.takeLog()).toEqual(['sync u1 create 1', 'terminating u1 1 2']);
    await world.update('sync', pod('u1', { version: '3' }));
    await world.fail('u1');
    expect(world.takeLog()).toEqual(['terminating u1 1 3']);
  });

  it('takes shorter grace periods only, and a shorter one ends the call under way', async () => {
    const world = new World();
    await world.update('kill', pod('u1', { terminationGracePeriodSeconds: 30 }), { gracePeriodSeconds: 20 });
    expect(world.takeLog()).toEqual(['terminating u1 20 1']);
    const { signal } = world.open.get('u1') ?? {};
    await world.update('kill', pod('u1'), { gracePeriodSeconds: 40 });
    await world.update('kill', pod('u1'), { gracePeriodSeconds: 20 });
    expect(signal?.aborted).toBe(false);
    await world.update('update', pod('u1', { deletion: 3 }));
    expect(signal?.aborted).toBe(true);
    await world.fail('u1');
    await world.update('kill', pod('u1'), { gracePeriodSeconds: 0 });
    await world.fail('u1');
    expect(world.takeLog()).toEqual(['terminating u1 3 1', 'terminating u1 1 1']);
  });

  it.each([
    [false, 1],
    [true, 60],
  ])('of a pod deleted without any grace is made longer by no kill, but exactly as the kubelet’s (%j)', async (exactlyAsKubelet, grace) => {
    const world = new World({ exactlyAsKubelet });
    await world.update('update', pod('u1', { deletion: 0 }));
    await world.update('kill', pod('u1', { deletion: 0 }), { gracePeriodSeconds: 60 });
    await world.fail('u1');
    expect(world.takeLog()).toEqual(['terminating u1 1 1', `terminating u1 ${grace} 1`]);
  });

  it('is tried again with the last status function until it succeeds', async () => {
    const world = new World();
    const sets = (reason: string) => ({
      podStatusFn: (status: { reason?: string }) => {
        status.reason = reason;
      },
    });
    await world.update('kill', pod('u1'), sets('first'));
    await world.update('kill', pod('u1'), sets('second'));
    await world.fail('u1');
    await world.fail('u1');
    await world.update('sync', pod('u1'));
    expect(world.takeLog()).toEqual(['terminating u1 1 1 first', 'terminating u1 1 1 second', 'terminating u1 1 1 second']);
  });

  it('calls every completed once, when no container runs', async () => {
    const world = new World();
    const completed: string[] = [];
    await world.update('create', pod('u1'), { completed: () => completed.push('not a kill') });
    expect(completed.splice(0)).toEqual(['not a kill']);
    await world.end('u1');
    await world.update('kill', pod('u1'), { completed: () => completed.push('a') });
    await world.update('kill', pod('u1'), { completed: () => completed.push('b') });
    await world.fail('u1');
    await world.fail('u1');
    expect(completed).toEqual([]);
    await world.update('sync', pod('u1'));
    await world.end('u1');
    expect(completed.splice(0)).toEqual(['a', 'b']);
    await world.update('kill', pod('u1'), { completed: () => completed.push('c') });
    expect(completed.splice(0)).toEqual(['c']);
    await world.end('u1');
    expect(completed).toEqual([]);
    expect(world.workers.shouldPodBeFinished('u1')).toBe(true);
  });

  it('of a pod that is over needs nothing, so completed is called at once', async () => {
    const world = new World();
    world.isQuick = true;
    const completed: string[] = [];
    await world.update('kill', pod('u1'));
    await world.update('kill', pod('u1'), { completed: () => completed.push('a') });
    await world.update('create', pod('u1'), { completed: () => completed.push('b') });
    expect(completed).toEqual(['a', 'b']);
  });

  it('that is asked for a pod that is over is ignored where the agent wants the kubelet’s ways', async () => {
    const world = new World({ exactlyAsKubelet: true });
    world.isQuick = true;
    const completed: string[] = [];
    await world.update('kill', pod('u1'), { completed: () => completed.push('a') });
    await world.update('kill', pod('u1'), { completed: () => completed.push('b') });
    expect(completed).toEqual(['a']);
  });

  it('counts as an eviction only when it began as one', async () => {
    const world = new World();
    await world.update('kill', pod('u1'), { evict: true });
    await world.update('kill', pod('u2'));
    await world.update('kill', pod('u2'), { evict: true });
    await world.update('create', pod('u3'));
    await world.update('kill', pod('u3', { phase: 'Failed' }), { evict: true });
    expect(world.workers.shouldPodContentBeRemoved('u1')).toBe(true);
    expect(world.workers.shouldPodContentBeRemoved('u2')).toBe(false);
    expect(world.workers.shouldPodContentBeRemoved('u3')).toBe(false);
  });
});

describe('a pod that is in a terminal phase when it is first seen', () => {
  it('is cleaned up alone where the runtime runs nothing of it', async () => {
    const world = new World();
    await world.update('create', pod('u1', { phase: 'Failed' }));
    expect(world.takeLog()).toEqual(['terminated u1']);
    expect(world.workers.isPodKnownTerminated('u1')).toBe(true);
  });

  it('is terminated first where the runtime still runs something of it', async () => {
    const world = new World();
    world.running.add('u1');
    await world.update('create', pod('u1', { phase: 'Succeeded' }));
    expect(world.takeLog()).toEqual(['terminating u1 1 1']);
  });

  it.each([
    () => {
      throw new Error('not known');
    },
    () => undefined,
    () => ({ containers: 'none' }),
  ])('is terminated first where the runtime status cache answers with %o', async (get) => {
    const world = new World({
      runtimeStatusCache: { get: get as never, getNewerThan: async (uid) => world.runtimeStatus(uid) },
    });
    await world.update('create', pod('u1', { phase: 'Failed' }));
    expect(world.takeLog()).toEqual(['terminating u1 1 1']);
  });
});

describe('as a pod deletion safety', () => {
  it('the workers know of each pod whether its containers could run, and whether all is reclaimed', async () => {
    const world = new World();
    const ended = pod('u1');
    const asked = () => [world.workers.podCouldHaveRunningContainers(ended), world.workers.podResourcesAreReclaimed(ended)];
    await world.update('create', ended);
    expect(asked()).toEqual([true, false]);
    await world.update('kill', ended);
    await world.end('u1');
    expect(asked()).toEqual([true, false]);
    await world.end('u1');
    expect(asked()).toEqual([false, false]);
    await world.end('u1');
    expect(asked()).toEqual([false, true]);
  });
});
