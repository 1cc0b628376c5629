import { describe, expect, it } from 'vitest';
import { pod, World } from './workers-world.ts';

const staticPod = (uid: string, version = '1') => pod(uid, { name: 'web', source: 'file', version });
const slowPod = (uid: string) => pod(uid, { name: 'web', source: 'file', terminationGracePeriodSeconds: 60 });

describe('static pods of one full name', () => {
  it('start one after another, in the order in which they came', async () => {
    const world = new World();
    for (const uid of ['u1', 'u2', 'u3']) await world.update('create', staticPod(uid));
    expect(world.takeLog()).toEqual(['sync u1 create 1']);
    await world.end('u1');
    await world.update('kill', staticPod('u1'));
    await world.end('u1');
    await world.update('sync', staticPod('u2'));
    expect(world.takeLog()).toEqual(['terminating u1 1 1', 'terminated u1']);
    await world.end('u1');
    await world.update('sync', staticPod('u3'));
    expect(world.takeLog()).toEqual([]);
    await world.update('sync', staticPod('u2', '2'));
    expect(world.takeLog()).toEqual(['sync u2 sync 2']);
  });

  it('that wait are put into the work queue, and keep their update', async () => {
    const world = new World();
    await world.update('create', staticPod('u1'));
    await world.update('create', staticPod('u2'));
    expect(await world.waits('u2')).toBe(10);
    expect(world.workers.syncKnownPods([staticPod('u1'), staticPod('u2')]).get('u2')).toEqual({
      ...{ state: 'sync', orphan: false, hasConfig: true, static: true },
    });
  });

  it('that are killed while they wait are over without any call, and complete', async () => {
    const world = new World();
    const completed: string[] = [];
    await world.update('create', staticPod('u1'));
    await world.update('create', staticPod('u2'));
    await world.update('kill', staticPod('u2'), { completed: () => completed.push('u2') });
    expect(completed).toEqual(['u2']);
    expect(world.workers.shouldPodBeFinished('u2')).toBe(true);
    expect(world.takeLog()).toEqual(['sync u1 create 1']);
  });

  it('that the runtime was seen to run are stopped, though they never started here', async () => {
    const world = new World();
    const completed: string[] = [];
    await world.update('create', staticPod('u1'));
    await world.update('create', staticPod('u2'));
    await world.end('u1');
    world.takeLog();
    const killPodOptions = { completed: () => completed.push('u2') };
    await world.updateWith({ updateType: 'kill', runningPod: { uid: 'u2', name: 'web', namespace: 'd' }, killPodOptions });
    expect(world.takeLog()).toEqual(['terminating u2 1 1']);
    expect([completed, world.workers.couldHaveRunningContainers('u2')]).toEqual([[], true]);
    await world.fail('u2');
    await world.update('sync', staticPod('u2'));
    expect(world.takeLog()).toEqual(['terminating u2 1 1']);
    await world.end('u2');
    expect([completed, world.workers.couldHaveRunningContainers('u2')]).toEqual([['u2'], false]);
    await world.end('u2');
    expect(world.takeLog()).toEqual(['terminated u2']);
    expect(world.workers.shouldPodBeFinished('u2')).toBe(true);
    expect(world.workers.isPodTerminationRequested('u1')).toBe(false);
  });

  it('that the runtime was seen to run, and that nobody desires any more, are stopped', async () => {
    const world = new World();
    world.isQuick = true;
    const runningPod = { uid: 'u1', name: 'web', namespace: 'd' };
    const broken = new World({}, { syncTerminatingRuntimePod: () => Promise.reject(new Error('busy')) });
    for (const one of [world, broken]) await one.updateWith({ updateType: 'kill', runningPod });
    expect(world.takeLog()).toEqual(['terminatingRuntime u1 web']);
    await broken.update('update', staticPod('u1'));
    expect(broken.takeLog()).toEqual(['terminating u1 1 1']);
    expect(broken.workers.couldHaveRunningContainers('u1')).toBe(true);
    expect(broken.workers.shouldPodBeFinished('u1')).toBe(false);
    await broken.end('u1');
    await broken.end('u1');
    expect(broken.workers.shouldPodBeFinished('u1')).toBe(true);
  });

  it.each([
    ['killed', '60', (world: World) => world.update('kill', slowPod('u2'))],
    ['not desired any more', '-', (world: World) => world.desire(staticPod('u1'))],
  ])('have their own grace period where an agent before has started them: %s while they wait', async (_how, grace, end) => {
    const world = new World();
    world.running.add('u2');
    await world.update('create', staticPod('u1'));
    await world.update('create', slowPod('u2'));
    expect(world.takeLog()).toEqual(['sync u1 create 1']);
    await end(world);
    expect(world.takeLog()).toEqual([`terminating u2 ${grace} 1`]);
    expect(world.workers.couldHaveRunningContainers('u2')).toBe(true);
    await world.end('u2');
    expect(world.workers.couldHaveRunningContainers('u2')).toBe(false);
  });

  it.each([
    ['a list of nothing', () => ({ containers: [null], sandboxes: [null] })],
    ['nothing', () => undefined],
    ['an error', () => expect.fail('no runtime')],
  ])('are over without any call where the runtime’s cache answers with %s', async (_what, get) => {
    const world = new World({ runtimeStatusCache: { get: get as never, getNewerThan: async (uid) => world.runtimeStatus(uid) } });
    await world.update('create', staticPod('u1'));
    await world.update('create', slowPod('u2'));
    await world.update('kill', slowPod('u2'));
    expect(world.takeLog()).toEqual(['sync u1 create 1']);
    expect(world.workers.shouldPodBeFinished('u2')).toBe(true);
  });

  it('are over without any call, though an agent before has started them, where all is as in the kubelet', async () => {
    const world = new World({ exactlyAsKubelet: true });
    for (const uid of ['u2', 'u3']) world.running.add(uid);
    await world.update('create', staticPod('u1'));
    for (const uid of ['u2', 'u3']) await world.update('create', slowPod(uid));
    await world.update('kill', slowPod('u2'));
    await world.desire(staticPod('u1'));
    expect(world.takeLog()).toEqual(['sync u1 create 1']);
  });

  it('wait for one that never started here, and that is being stopped', async () => {
    const world = new World();
    for (const uid of ['u1', 'u2', 'u3']) await world.update('create', staticPod(uid));
    await world.end('u1');
    await world.updateWith({ updateType: 'kill', runningPod: { uid: 'u2', name: 'web', namespace: 'd' } });
    await world.update('kill', staticPod('u1'));
    await world.end('u1');
    await world.end('u1');
    world.takeLog();
    await world.update('sync', staticPod('u3'));
    expect(world.takeLog()).toEqual([]);
    await world.end('u2');
    await world.update('sync', staticPod('u3'));
    expect(world.takeLog()).toEqual(['terminated u2', 'sync u3 sync 1']);
  });

  it('wait for one that is stopped before its turn', async () => {
    const world = new World();
    world.workers.updatePod({ updateType: 'kill', runningPod: { uid: 'u1', name: 'web', namespace: 'd' } });
    world.workers.updatePod({ updateType: 'update', pod: staticPod('u1') });
    await world.update('create', staticPod('u2'));
    expect(world.takeLog()).toEqual(['terminating u1 1 1']);
    await world.end('u1');
    await world.end('u1');
    await world.update('sync', staticPod('u2'));
    expect(world.takeLog()).toEqual(['terminated u1', 'sync u2 sync 1']);
  });

  it('are over without any call, though the runtime was seen to run them, where all is as in the kubelet', async () => {
    const world = new World({ exactlyAsKubelet: true });
    await world.update('create', staticPod('u1'));
    await world.update('create', staticPod('u2'));
    await world.updateWith({ updateType: 'kill', runningPod: { uid: 'u2', name: 'web', namespace: 'd' } });
    expect(world.takeLog()).toEqual(['sync u1 create 1']);
    expect(world.workers.shouldPodBeFinished('u2')).toBe(true);
  });

  it('that are killed or gone while they wait hold up no other', async () => {
    const world = new World();
    for (const uid of ['u1', 'u2', 'u3', 'u4']) await world.update('create', staticPod(uid));
    await world.update('kill', staticPod('u2'));
    world.workers.syncKnownPods([staticPod('u1'), staticPod('u4')]);
    await world.end('u1');
    await world.update('kill', staticPod('u1'));
    await world.end('u1');
    await world.end('u1');
    world.takeLog();
    await world.update('sync', staticPod('u4'));
    expect(world.takeLog()).toEqual(['sync u4 sync 1']);
    expect(world.workers.couldHaveRunningContainers('u3')).toBe(false);
  });

  it('take the last place when they come again after they were forgotten', async () => {
    const world = new World();
    for (const uid of ['u1', 'u2', 'u3']) await world.update('create', staticPod(uid));
    world.workers.syncKnownPods([staticPod('u1'), staticPod('u3')]);
    await world.update('create', staticPod('u2'));
    await world.end('u1');
    await world.update('kill', staticPod('u1'));
    await world.end('u1');
    await world.end('u1');
    world.takeLog();
    await world.update('sync', staticPod('u2'));
    await world.update('sync', staticPod('u3'));
    expect(world.takeLog()).toEqual(['sync u3 sync 1']);
  });

  it('do not wait for one that is about to end without having started', async () => {
    const world = new World();
    world.isQuick = true;
    for (const uid of ['u1', 'u2', 'u3']) await world.update('create', staticPod(uid));
    await world.update('kill', staticPod('u1'));
    world.takeLog();
    world.workers.updatePod({ updateType: 'sync', pod: staticPod('u3') });
    await world.update('kill', staticPod('u2'));
    expect(world.takeLog()).toEqual(['sync u3 sync 1']);
  });

  it('of another name, or from the apiserver, start at once', async () => {
    const world = new World();
    await world.update('create', staticPod('u1'));
    await world.update('create', pod('u2', { name: 'web' }));
    await world.update('create', pod('u3', { name: 'web2', source: 'file' }));
    expect(world.takeLog()).toEqual(['sync u1 create 1', 'sync u2 create 1', 'sync u3 create 1']);
  });

  it('in a terminal phase are over at once where nothing runs', async () => {
    const world = new World();
    await world.update('create', { ...staticPod('u1'), status: { phase: 'Failed' } });
    expect(world.takeLog()).toEqual([]);
    expect(world.workers.shouldPodBeFinished('u1')).toBe(true);
  });

  it('tell that their mirror pod must stay while they end', async () => {
    const world = new World();
    const ends = () => world.workers.isPodForMirrorPodTerminatingByFullName('web_d');
    expect(ends()).toBe(false);
    await world.update('create', staticPod('u1'));
    expect(ends()).toBe(false);
    await world.update('kill', staticPod('u1'));
    expect(ends()).toBe(true);
    await world.end('u1');
    expect(ends()).toBe(true);
    await world.end('u1');
    expect(ends()).toBe(false);
  });
});
