import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import type { MirrorPodManager } from '../../../../src/node/mirror/mirror-pods.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { buildStaticPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { ReconcilerWorld } from './reconciler-world.ts';

const name = 'web_default';

describe('a static pod', () => {
  it('gets a mirror pod, once', async () => {
    const world = new ReconcilerWorld();
    const pod = world.addStatic();
    await world.start();
    expect(world.isInStep(pod)).toBe(true);
    await world.clock.advance(60_000);
    expect(world.takeCalls()).toEqual([`create ${name} hash-1`]);
    expect(world.told).toEqual([`created ${name}`]);
    await world.reconciler.stop();
  });

  it('that comes later gets a mirror pod without any time passing', async () => {
    const world = new ReconcilerWorld();
    await world.start();
    const pod = world.addStatic();
    await settle();
    expect(world.isInStep(pod)).toBe(true);
    await world.reconciler.stop();
  });

  it('whose mirror pod is there already causes no request', async () => {
    const world = new ReconcilerWorld();
    world.putMirrorOf(world.addStatic());
    await world.start();
    await world.clock.advance(60_000);
    expect(world.calls).toEqual([]);
    await world.reconciler.stop();
  });

  it('that changes has its mirror pod replaced: deleted by its uid, then created', async () => {
    const world = new ReconcilerWorld();
    world.addStatic();
    await world.start();
    const uid = world.uid();
    world.takeCalls();
    const changed = world.addStatic('web', 'hash-2');
    await settle(20);
    expect(world.takeCalls()).toEqual([`delete ${name} ${uid}`, `create ${name} hash-2`]);
    expect(world.isInStep(changed)).toBe(true);
    expect(world.told).toEqual([`created ${name}`, `deleted ${name}: changed`, `created ${name}`]);
    await world.reconciler.stop();
  });

  it('has its mirror pod replaced when somebody has asked for its deletion', async () => {
    const world = new ReconcilerWorld();
    const pod = world.addStatic();
    await world.start();
    const uid = world.uid();
    world.takeCalls();
    world.put({
      ...(world.pods.get(name) ?? {}),
      metadata: { ...world.pods.get(name)?.metadata, deletionTimestamp: '2000-01-01T00:00:30Z' },
    });
    await settle(20);
    expect(world.takeCalls()).toEqual([`delete ${name} ${uid}`, `create ${name} hash-1`]);
    expect(world.isInStep(pod)).toBe(true);
    expect(world.told).toContain(`deleted ${name}: deleting`);
    await world.reconciler.stop();
  });

  it('has its mirror pod again at once when somebody deletes it, again and again', async () => {
    const world = new ReconcilerWorld();
    const pod = world.addStatic();
    await world.start();
    for (let i = 0; i < 10; i++) {
      world.remove(name);
      await settle();
      expect(world.isInStep(pod)).toBe(true);
    }
    expect(world.calls).toHaveLength(11);
    await world.reconciler.stop();
  });

  it('has it again within a second also when somebody deletes it all the time, with a bounded number of requests', async () => {
    const world = new ReconcilerWorld();
    const pod = world.addStatic();
    await world.start();
    for (let ms = 0; ms < 60_000; ms += 50) {
      world.remove(name);
      await world.clock.advance(50);
    }
    expect(world.calls.length).toBeLessThanOrEqual(105 + 60 * 10);
    await world.clock.advance(1000);
    expect(world.isInStep(pod)).toBe(true);
    await world.reconciler.stop();
  });

  it('has its mirror pod again at once when it comes and goes within one turn of the event loop', async () => {
    const world = new ReconcilerWorld();
    const pod = world.addStatic();
    world.watches = false;
    await world.start();
    world.remove(name);
    world.catchUp();
    await settle();
    expect(world.isInStep(pod)).toBe(true);
    expect(world.calls).toEqual([`create ${name} hash-1`, `create ${name} hash-1`]);
    await world.reconciler.stop();
  });

  it('has its mirror pod again at once when it is shown and deleted before the answer to its creation comes', async () => {
    const world = new ReconcilerWorld();
    const pod = world.addStatic();
    const answered = Promise.withResolvers<void>();
    world.next('create', async (act) => {
      const answer = act();
      await answered.promise;
      return answer;
    });
    await world.start();
    world.remove(name);
    await settle();
    answered.resolve();
    await settle();
    expect(world.isInStep(pod)).toBe(true);
    await world.reconciler.stop();
  });

  it('of another node, and one that names no node, gets none; the log says once why', async () => {
    const warnings: object[] = [];
    const nothing = (): void => {};
    const logger = { debug: nothing, info: nothing, error: nothing, warn: (fields: object) => warnings.push(fields) };
    const world = new ReconcilerWorld({ logger });
    const pod = world.addStatic();
    world.podManager.setPods([
      { ...pod, spec: { ...pod.spec, containers: [], nodeName: 'node-2' } },
      { ...pod, metadata: { ...pod.metadata, name: 'nowhere', uid: 'nowhere' }, spec: { containers: [] } },
    ]);
    await world.start();
    await world.clock.advance(60_000);
    expect(world.calls).toEqual([]);
    expect(warnings).toEqual([{ podNamespace: 'default', podName: 'nowhere', podUID: 'nowhere' }]);
    await world.reconciler.stop();
  });
});

describe('an orphaned mirror pod', () => {
  it('is deleted by its uid', async () => {
    const world = new ReconcilerWorld();
    const pod = world.addStatic();
    await world.start();
    const uid = world.uid();
    world.takeCalls();
    world.podManager.removePod(pod);
    await settle();
    expect(world.takeCalls()).toEqual([`delete ${name} ${uid}`]);
    expect(world.pods.size).toBe(0);
    expect(world.told).toContain(`deleted ${name}: orphaned`);
    await world.reconciler.stop();
  });

  it('stays while the static pods are not all known, and goes soon after', async () => {
    let ready: unknown = false;
    const world = new ReconcilerWorld({ staticPodsReady: () => ready as boolean });
    const pod = world.addStatic();
    world.putMirrorOf(pod);
    world.podManager.removePod(pod);
    await world.start();
    for (const answer of [false, undefined, 'yes', Promise.resolve(true)]) {
      ready = answer;
      await world.clock.advance(2000);
      expect(world.calls).toEqual([]);
    }
    ready = true;
    await world.clock.advance(500);
    expect(world.pods.size).toBe(0);
    await world.reconciler.stop();
  });

  it.each<[string, () => unknown]>([
    ['says true', () => true],
    ['answers with nothing', () => undefined],
    ['answers with a promise', () => Promise.resolve(false)],
    ['answers with a promise that rejects', () => Promise.reject(new Error('no'))],
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
  ])('stays while isPodTerminating %s', async (_, isPodTerminating) => {
    let ask = isPodTerminating;
    const world = new ReconcilerWorld({ isPodTerminating: () => ask() as boolean });
    const pod = world.addStatic();
    world.putMirrorOf(pod);
    world.podManager.removePod(pod);
    await world.start();
    await world.clock.advance(5000);
    expect(world.calls).toEqual([]);
    ask = () => false;
    await world.clock.advance(500);
    expect(world.pods.size).toBe(0);
    await world.reconciler.stop();
  });

  it('is not deleted when its static pod comes back before the next turn', async () => {
    const world = new ReconcilerWorld();
    const pod = world.addStatic();
    await world.start();
    world.podManager.removePod(pod);
    world.podManager.addPod(pod);
    await settle();
    expect(world.takeCalls()).toEqual([`create ${name} hash-1`]);
    await world.reconciler.stop();
  });

  it('that the pod manager has not shown yet is deleted, too', async () => {
    const world = new ReconcilerWorld();
    const pod = world.addStatic();
    world.watches = false;
    await world.start();
    const uid = world.uid();
    world.podManager.removePod(pod);
    await settle();
    expect(world.takeCalls()).toEqual([`create ${name} hash-1`, `delete ${name} ${uid}`]);
    await world.reconciler.stop();
  });

  it('of another node stays', async () => {
    const world = new ReconcilerWorld();
    const pod = world.addStatic();
    world.podManager.removePod(pod);
    const foreign = world.putMirrorOf(pod, { spec: { nodeName: 'node-2' } });
    world.podManager.addPod(foreign);
    await world.start();
    await world.clock.advance(60_000);
    expect(world.calls).toEqual([]);
    await world.reconciler.stop();
  });
});

describe('before the first list of the pod source', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a promise', Promise.resolve(1)],
    ['no number', '1'],
  ])('neither a missing nor an orphaned mirror pod counts, while the source answers %s', async (_, listedAt) => {
    const world = new ReconcilerWorld();
    world.listedAt = listedAt as undefined;
    const gone = world.addStatic('gone');
    world.putMirrorOf(gone);
    world.podManager.removePod(gone);
    const pod = world.addStatic();
    await world.start();
    await world.clock.advance(60_000);
    expect(world.calls).toEqual([]);
    world.listedAt = 1;
    await world.clock.advance(500);
    expect(world.isInStep(pod)).toBe(true);
    expect([...world.pods.keys()]).toEqual([name]);
    await world.reconciler.stop();
  });
});

describe('a pod that has the name of a static pod, and is no mirror pod of this node,', () => {
  it.each<[string, (world: ReconcilerWorld, pod: WirePod) => WirePod]>([
    ['an ordinary pod', (world) => world.putOrdinary('web')],
    ['a pod of another node', (world) => world.putOrdinary('web', { nodeName: 'node-2' })],
    ['a mirror pod of another node', (world, pod) => world.putMirrorOf(pod, { spec: { nodeName: 'node-2' } })],
  ])('is never touched: %s', async (_, put) => {
    const world = new ReconcilerWorld();
    const pod = world.addStatic();
    const ordinary = put(world, pod);
    world.podManager.addPod(pod);
    await world.start();
    await world.clock.advance(120_000);
    expect(world.pods.get(name)).toBe(ordinary);
    expect(world.calls.filter((call) => call.startsWith('delete'))).toEqual([]);
    expect(world.failures[0]).toMatchObject({ podFullName: name, verb: 'name', errorClass: 'conflict', attempt: 1 });
    // it is asked for again, at most every ten seconds
    expect(world.calls.length).toBeLessThan(2 * (8 + 120 / 5));
    world.remove(name);
    await world.clock.advance(10_000);
    expect(world.isInStep(pod)).toBe(true);
    await world.reconciler.stop();
  });
});

it('a look that takes long is followed by a rest, in which changes wait for the next one; whoever asks does not', async () => {
  const clock = new FakeClock();
  let [looks, passedMs] = [0, 0];
  const podManager = new BasicPodManager();
  const slow: MirrorPodManager = {
    getPodsAndMirrorPods: () => {
      looks += 1;
      passedMs += 20;
      return podManager.getPodsAndMirrorPods();
    },
    subscribe: (told) => podManager.subscribe(told),
    getPodByUID: (uid) => podManager.getPodByUID(uid),
    getMirrorPodByPod: (pod) => podManager.getMirrorPodByPod(pod),
  };
  const late = { now: () => clock.now(), elapsed: () => clock.elapsed() + passedMs, setTimer: clock.setTimer.bind(clock) };
  const world = new ReconcilerWorld({ podManager: slow, clock: late });
  world.reconciler.start();
  await clock.advance(0);
  expect(looks).toBe(1);
  for (const name of ['a', 'b', 'c']) podManager.addPod(buildStaticPod({ metadata: { name, uid: name } }));
  await clock.advance(179);
  expect(looks).toBe(1);
  await clock.advance(1);
  expect(looks).toBe(2);
  world.reconciler.reconcile();
  await clock.advance(0);
  expect(looks).toBe(3);
  await world.reconciler.stop();
  expect(clock.pendingTimers).toBe(0);
});
