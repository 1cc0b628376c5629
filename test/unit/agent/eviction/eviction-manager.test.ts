import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing.ts';
import { evictionWorld, MiB, memory, namesOf, podNamed, using } from './harness.ts';

const requests = (text: string) => ({ requests: { memory: text } });

describe('a node that runs short of memory', () => {
  it('evicts the pod that takes most beyond its request, at once, with the kubelet’s words', async () => {
    const pods = [podNamed('modest', requests('100Mi')), podNamed('greedy', requests('10Mi'))];
    const { clock, node, killed, events, manager, changes } = evictionWorld(pods, { modest: using(50), greedy: using(40) });
    manager.start();
    await settle();
    expect([killed, changes(), manager.pressures]).toEqual([[], 0, { memory: false, disk: false, pid: false }]);
    node.now = memory(95);
    await clock.advance(10_000);
    expect(namesOf(killed)).toEqual(['greedy']);
    const message =
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 95Mi. ' +
      'Container app was using 40Mi, request is 10Mi, has larger consumption of memory. ';
    expect(killed[0]).toMatchObject({
      gracePeriodSeconds: 0,
      status: {
        phase: 'Failed',
        reason: 'Evicted',
        message,
        conditions: [
          { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message, observedGeneration: 3 },
        ],
      },
    });
    expect(events).toEqual(['node EvictionThresholdMet Attempting to reclaim memory', `greedy Warning Evicted ${message}`]);
    expect([manager.pressures.memory, changes()]).toEqual([true, 1]);
  });

  it('evicts one pod after the other, each once the one before is cleaned up', async () => {
    const pods = ['a', 'b', 'c'].map((name) => podNamed(name));
    const usages = { a: using(10), b: using(30), c: using(20) };
    let isGone = false;
    const { clock, node, killed, manager } = evictionWorld(pods, usages, { isCleanedUp: () => isGone });
    node.now = memory(50);
    manager.start();
    await clock.advance(5000);
    expect(namesOf(killed)).toEqual(['b']);
    isGone = true;
    await clock.advance(1000);
    expect(namesOf(killed)).toEqual(['b', 'c']);
    node.now = memory(500);
    await clock.advance(60_000);
    expect(namesOf(killed)).toEqual(['b', 'c']);
  });

  it('waits no longer than 30 s for a pod that does not go', async () => {
    const pods = ['a', 'b'].map((name) => podNamed(name));
    const { clock, node, killed, manager } = evictionWorld(pods, { a: using(10), b: using(30) }, { isCleanedUp: () => false });
    node.now = memory(50);
    manager.start();
    await clock.advance(29_000);
    expect(namesOf(killed)).toEqual(['b']);
    await clock.advance(2000);
    expect(namesOf(killed)).toEqual(['b', 'a']);
  });

  it('never evicts a critical pod, and takes low priority first among those beyond their request', async () => {
    const critical = podNamed('critical', {}, { priority: 2_000_000_000 });
    const pods = [critical, podNamed('high', {}, { priority: 5 }), podNamed('low'), podNamed('within', requests('200Mi'))];
    const usages = { critical: using(400), high: using(300), low: using(1), within: using(199) };
    const { clock, node, killed, manager } = evictionWorld(pods, usages);
    node.now = memory(1);
    manager.start();
    await clock.advance(120_000);
    expect(namesOf(killed)).toEqual(['low', 'high', 'within']);
  });

  it('takes a pod of which nothing is known first', async () => {
    const { clock, node, killed, manager } = evictionWorld([podNamed('known'), podNamed('unknown')], { known: using(500) });
    node.now = memory(1);
    manager.start();
    await clock.advance(100);
    expect(namesOf(killed)).toEqual(['unknown']);
  });

  it('counts as running short for five minutes after it was last seen so', async () => {
    const { clock, node, manager, changes } = evictionWorld([], {});
    node.now = memory(1);
    manager.start();
    await clock.advance(10_000);
    node.now = memory(500);
    await clock.advance(295_000);
    expect([manager.pressures.memory, changes()]).toEqual([true, 1]);
    await clock.advance(20_000);
    expect([manager.pressures.memory, changes()]).toEqual([false, 2]);
  });
});

describe('a node whose disk is full', () => {
  const full = { nodefs: { available: 9 * MiB, capacity: 100 * MiB }, hasDedicatedImagefs: false };
  const onDisk = (mib: number) => using(0, { containers: { app: { rootfs: mib * MiB, logs: 0 } } });

  it('frees the disk first, and evicts nobody where that is enough', async () => {
    const world = evictionWorld(
      [podNamed('a')],
      { a: onDisk(50) },
      {
        freeDisk: async () => {
          world.node.now = memory(500);
        },
      },
    );
    world.node.now = full;
    world.manager.start();
    await world.clock.advance(30_000);
    expect(world.killed).toEqual([]);
    expect(world.manager.pressures).toEqual({ memory: false, disk: true, pid: false });
  });

  it('evicts who keeps most there where it is not, also when freeing fails', async () => {
    const pods = [podNamed('a'), podNamed('b')];
    const { clock, node, killed, manager } = evictionWorld(
      pods,
      { a: onDisk(20), b: onDisk(30) },
      {
        freeDisk: () => Promise.reject(new Error('read-only')),
      },
    );
    node.now = full;
    manager.start();
    await clock.advance(100);
    expect(killed[0]?.status.message).toBe(
      'The node was low on resource: ephemeral-storage. Threshold quantity: 10Mi, available: 9Mi. ' +
        'Container app was using 30Mi, request is 0, has larger consumption of ephemeral-storage. ',
    );
  });
});

describe('a pod that keeps more on the disk than it may', () => {
  const limits = (text: string) => ({ limits: { 'ephemeral-storage': text } });
  const emptyDir = { volumes: [{ name: 'scratch', emptyDir: { sizeLimit: '5Mi' } }] };

  it('goes for its volume, for the sum of its containers, or for one container, and others stay', async () => {
    const two = {
      containers: [
        { name: 'app', image: 'i', resources: limits('10Mi') },
        { name: 'side', image: 'i', resources: limits('90Mi') },
      ],
    };
    const pods = [
      podNamed('volume', {}, emptyDir),
      podNamed('sum', limits('20Mi')),
      podNamed('one', {}, two),
      podNamed('fine', limits('1Gi')),
    ];
    const written = (mib: number) => using(0, { containers: { app: { rootfs: mib * MiB, logs: MiB } } });
    const usages = {
      volume: using(0, { memoryVolumes: { scratch: 6 * MiB } }),
      sum: written(20),
      one: written(10),
      fine: written(20),
    };
    const { clock, killed, manager } = evictionWorld(pods, usages);
    manager.start();
    await clock.advance(100);
    expect(Object.fromEntries(killed.map(({ name, status }) => [name, status.message]))).toEqual({
      volume: 'Usage of EmptyDir volume "scratch" exceeds the limit "5Mi". ',
      sum: 'Pod ephemeral local storage usage exceeds the total limit of containers 20Mi. ',
      one: 'Container app exceeded its local ephemeral storage limit "10Mi". ',
    });
    expect(killed.every(({ status }) => status.conditions === undefined)).toBe(true);
  });

  it('is the only kind of pod that is measured while nothing runs short', async () => {
    const { clock, asked, manager } = evictionWorld([podNamed('plain'), podNamed('limited', limits('1Gi'))], {
      limited: using(1),
    });
    manager.start();
    await clock.advance(10_000);
    expect(asked).toEqual([['limited'], ['limited']]);
  });
});

describe('a node without thresholds', () => {
  it('is not looked at, except while a pod has a limit of its own', async () => {
    let looks = 0;
    const readNode = async () => {
      looks += 1;
      return memory(1);
    };
    const { clock, manager, active } = evictionWorld([podNamed('plain')], {}, { evictionHard: {}, readNode });
    manager.start();
    await clock.advance(100_000);
    expect(looks).toBe(0);
    active.set('limited', podNamed('limited', {}, { volumes: [{ name: 'scratch', emptyDir: { sizeLimit: '5Mi' } }] }));
    await clock.advance(10_000);
    expect(looks).toBe(1);
  });
});

describe('what cannot be read', () => {
  it('evicts nobody, whether the read fails, says nothing or never ends, and is read again', async () => {
    let answer: () => Promise<ReturnType<typeof memory>> = () => Promise.reject(new Error('no /proc'));
    const { clock, killed, manager } = evictionWorld([podNamed('a')], { a: using(1) }, { readNode: () => answer() });
    manager.start();
    await clock.advance(20_000);
    answer = async () => ({ hasDedicatedImagefs: false });
    await clock.advance(20_000);
    answer = () => new Promise(() => undefined);
    await clock.advance(120_000);
    expect(killed).toEqual([]);
    answer = async () => memory(1);
    await clock.advance(80_000);
    expect(namesOf(killed)).toEqual(['a']);
  });

  it('is not waited for by stop, which leaves no timer', async () => {
    const { clock, manager } = evictionWorld([], {}, { readNode: () => new Promise(() => undefined) });
    manager.start();
    await settle();
    await manager.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('goes on when parts that are told throw, and when a kill is refused', async () => {
    const broken = (): never => {
      throw new Error('broken');
    };
    const { clock, node, manager } = evictionWorld(
      [podNamed('a')],
      { a: using(1) },
      {
        pressureChanged: broken,
        nodeEvent: broken,
        isCleanedUp: broken,
        eventRecorder: { event: broken },
        killPod: () => Promise.reject(new Error('timeout')),
      },
    );
    node.now = memory(1);
    manager.start();
    await clock.advance(100_000);
    expect(manager.pressures.memory).toBe(true);
  });
});
