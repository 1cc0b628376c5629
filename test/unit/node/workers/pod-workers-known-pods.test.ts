import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { pod, World } from './workers-world.ts';

describe('a pod that only the runtime knows', () => {
  const runningPod = { uid: 'r1', name: 'left', namespace: 'd' };

  it('is ended, and forgotten', async () => {
    const world = new World();
    const completed: string[] = [];
    const killPodOptions = { completed: () => completed.push('a') };
    await world.updateWith({ updateType: 'kill', runningPod, killPodOptions });
    expect(world.takeLog()).toEqual(['terminatingRuntime r1 left']);
    expect(world.workers.couldHaveRunningContainers('r1')).toBe(true);
    await world.fail('r1');
    expect(await world.waits('r1')).toBe(10);
    await world.updateWith({ updateType: 'kill', runningPod });
    await world.end('r1');
    expect(completed).toEqual(['a']);
    world.workers.syncKnownPods([]);
    expect(world.workers.shouldPodBeFinished('r1')).toBe(true);
    expect(world.takeLog()).toEqual(['terminatingRuntime r1 left']);
  });

  it('is ended as a pod where the workers have its object', async () => {
    const world = new World();
    await world.update('create', pod('r1'));
    await world.end('r1');
    await world.updateWith({ updateType: 'kill', runningPod });
    expect(world.takeLog()).toEqual(['sync r1 create 1', 'terminating r1 1 1']);
    expect(world.workers.syncKnownPods([]).get('r1')).toEqual({
      state: 'terminating',
      orphan: true,
      hasConfig: true,
      static: false,
    });
  });

  it('counts as the pod where both are given', async () => {
    const world = new World();
    await world.updateWith({ updateType: 'sync', pod: pod('u1'), runningPod });
    expect(world.takeLog()).toEqual(['sync u1 sync 1']);
  });
});

describe('syncKnownPods', () => {
  it('ends a pod that is not desired, without ending its call under way', async () => {
    const world = new World();
    await world.update('create', pod('u1', { terminationGracePeriodSeconds: 30 }));
    const known = world.workers.syncKnownPods([]);
    expect(known.get('u1')).toEqual({ state: 'terminating', orphan: true, hasConfig: true, static: false });
    expect(world.open.get('u1')?.signal.aborted).toBe(false);
    await world.end('u1');
    expect(world.takeLog()).toEqual(['sync u1 create 1', 'terminating u1 - 1']);
    await world.end('u1');
    await world.end('u1');
    expect(world.workers.shouldPodContentBeRemoved('u1')).toBe(true);
    expect(world.workers.syncKnownPods([]).size).toBe(0);
  });

  it('repeats the end of a pod that is not desired', async () => {
    const world = new World();
    await world.update('kill', pod('u1'), { gracePeriodSeconds: 5 });
    await world.fail('u1');
    expect(world.takeLog()).toEqual(['terminating u1 5 1']);
    world.workers.syncKnownPods([]);
    await settle();
    expect(world.takeLog()).toEqual(['terminating u1 5 1']);
  });

  it('keeps what is known of a desired pod that is over', async () => {
    const world = new World();
    world.isQuick = true;
    await world.update('kill', pod('u1'));
    expect(world.workers.syncKnownPods([pod('u1')]).get('u1')?.state).toBe('terminated');
    await world.update('create', pod('u1'));
    expect(world.takeLog()).toEqual(['terminating u1 1 1', 'terminated u1']);
  });

  it('forgets a pod that is over and was created again, so that it can be created', async () => {
    const world = new World();
    await world.update('kill', pod('u1'));
    await world.update('create', pod('u1'));
    await world.end('u1');
    expect(world.workers.syncKnownPods([pod('u1')]).get('u1')).toMatchObject({ state: 'terminated', orphan: false });
    expect(world.workers.shouldPodContentBeRemoved('u1')).toBe(false);
    await world.end('u1');
    expect(world.workers.syncKnownPods([pod('u1')]).has('u1')).toBe(false);
    await world.update('create', pod('u1'));
    expect(world.takeLog()).toEqual(['terminating u1 1 1', 'terminated u1', 'sync u1 create 1']);
  });

  it('changes the answers about pods that are not known', () => {
    const { workers } = new World();
    const answers = () => [
      workers.isPodKnownTerminated('x'),
      workers.couldHaveRunningContainers('x'),
      workers.shouldPodBeFinished('x'),
      workers.isPodTerminationRequested('x'),
      workers.shouldPodContainersBeTerminating('x'),
      workers.shouldPodRuntimeBeRemoved('x'),
      workers.shouldPodContentBeRemoved('x'),
    ];
    expect(answers()).toEqual([false, true, false, false, false, false, false]);
    workers.syncKnownPods([]);
    expect(answers()).toEqual([false, false, true, false, true, true, true]);
  });
});
