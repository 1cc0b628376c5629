import { describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { settle } from '../../../../src/testing.ts';
import { evictionWorld, MiB, memory, namesOf, podNamed, size, using } from './eviction-harness.ts';

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
      gracePeriodSeconds: 1,
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

  it('is short of it below the threshold, and not at it', async () => {
    const { clock, node, killed, manager } = evictionWorld([podNamed('a')], { a: using(1) });
    node.now = memory(100);
    manager.start();
    await clock.advance(100);
    expect([manager.pressures.memory, killed]).toEqual([false, []]);
    node.now = { ...memory(0), memory: { available: 100 * MiB - 1, capacity: 1000 * MiB } };
    await clock.advance(10_000);
    expect([manager.pressures.memory, namesOf(killed)]).toEqual([true, ['a']]);
  });

  it('is so too while all pods together are about to take what they may have', async () => {
    const { clock, node, killed, manager } = evictionWorld([podNamed('a'), podNamed('b')], { a: using(1), b: using(2) });
    node.now = { ...memory(900), podsMemory: { available: 90 * MiB, capacity: 400 * MiB } };
    manager.start();
    await clock.advance(100);
    expect([manager.pressures.memory, namesOf(killed)]).toEqual([true, ['b']]);
    expect(killed[0]?.status.message).toMatch(
      /^The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. /,
    );
  });

  it('counts pressure and waits by the time that passes, whatever the wall clock does', async () => {
    const pods = ['a', 'b'].map((name) => podNamed(name));
    const { clock, node, killed, manager } = evictionWorld(pods, { a: using(1), b: using(2) }, { isCleanedUp: () => false });
    node.now = memory(1);
    manager.start();
    await clock.advance(100);
    clock.jump(-3_600_000);
    await clock.advance(31_000);
    expect(namesOf(killed)).toEqual(['b', 'a']);
    node.now = memory(500);
    clock.jump(7_200_000);
    await clock.advance(60_000);
    expect(manager.pressures.memory).toBe(true);
  });

  it('leaves nothing on its own signal, however often it looks', async () => {
    const added = vi.spyOn(EventTarget.prototype, 'addEventListener');
    const removed = vi.spyOn(EventTarget.prototype, 'removeEventListener');
    const { clock, node, manager } = evictionWorld([podNamed('a')], { a: using(1) }, { killPod: async () => undefined });
    node.now = memory(1);
    manager.start();
    await clock.advance(3_600_000);
    // the sleep under way listens
    expect(added.mock.calls.length).toBeGreaterThan(100);
    expect(added.mock.calls.length - removed.mock.calls.length).toBeLessThanOrEqual(1);
    added.mockRestore();
    removed.mockRestore();
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
  const onDisk = (mib: number) => using(0, { containers: { app: { rootfs: size(mib), logs: size(0, 0) } } });

  it('frees the disk first, and evicts nobody where that is enough', async () => {
    const world = evictionWorld(
      [podNamed('a')],
      { a: onDisk(50) },
      {
        reclaim: async () => {
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
        reclaim: () => Promise.reject(new Error('read-only')),
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

describe('a node that runs short of inodes or processes', () => {
  it('evicts who has most files, also in volumes and logs', async () => {
    const files = (inodes: number) => size(0, inodes);
    const usages = {
      layer: using(0, { containers: { app: { rootfs: files(100), logs: files(1) } } }),
      volume: using(0, { volumes: { scratch: files(900) } }),
      logs: using(0, { containers: { app: { rootfs: files(50), logs: files(300) } } }),
      others: using(0, { others: files(200) }),
    };
    const pods = Object.keys(usages).map((name) => podNamed(name));
    const evictionHard = { 'nodefs.inodesFree': '5%' };
    let freshened = 0;
    const freshenFiles = async (): Promise<void> => {
      freshened += 1;
    };
    const { clock, node, killed, manager } = evictionWorld(pods, usages, { evictionHard, freshenFiles });
    node.now = { nodefsInodes: { available: 4, capacity: 100 }, hasDedicatedImagefs: false };
    manager.start();
    await clock.advance(5000);
    expect(namesOf(killed)).toEqual(['volume', 'logs', 'others', 'layer']);
    expect(freshened).toBeGreaterThanOrEqual(4);
  });

  it('evicts who has most processes among the pods of the lowest priority', async () => {
    const usages = {
      some: using(900, { processes: 20 }),
      bomb: using(1, { processes: 30_000 }),
      high: using(0, { processes: 1 }),
    };
    const pods = [podNamed('some'), podNamed('bomb'), podNamed('high', {}, { priority: 1 })];
    const { clock, node, killed, resources, manager } = evictionWorld(pods, usages, { evictionHard: { 'pid.available': '10' } });
    node.now = { pids: { available: 9, capacity: 100 }, hasDedicatedImagefs: false };
    manager.start();
    await clock.advance(5000);
    expect([namesOf(killed), resources[0]]).toEqual([['bomb', 'some', 'high'], 'pids']);
  });

  it('decides on what is known when files cannot be counted in time', async () => {
    const pods = ['a', 'b'].map((name) => podNamed(name));
    const usages = { a: using(0, { volumes: { scratch: size(1) } }), b: using(0, { volumes: { scratch: size(2) } }) };
    const freshenFiles = () => new Promise<void>(() => undefined);
    const { clock, node, killed, manager } = evictionWorld(pods, usages, { freshenFiles });
    node.now = { nodefs: { available: 1, capacity: 100 }, hasDedicatedImagefs: false };
    manager.start();
    await clock.advance(9000);
    expect(killed).toEqual([]);
    await clock.advance(1500);
    expect(namesOf(killed)).toEqual(['b']);
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
    const written = (mib: number) => using(0, { containers: { app: { rootfs: size(mib), logs: size(1) } } });
    const usages = {
      volume: using(0, { memoryVolumes: { scratch: size(6) } }),
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

  it('is waited for with all others that went with it, before the node is looked at again', async () => {
    const world = evictionWorld(
      ['a', 'b'].map((name) => podNamed(name, {}, emptyDir)),
      { a: using(0, { volumes: { scratch: size(6) } }), b: using(0, { volumes: { scratch: size(7) } }) },
      { isCleanedUp: ({ metadata }) => gone.has(metadata?.name ?? '') },
    );
    const gone = new Set(['a']);
    world.manager.start();
    await world.clock.advance(9000);
    world.active.set('c', podNamed('c', limits('1Gi')));
    expect(namesOf(world.killed)).toEqual(['a', 'b']);
    const looks = world.asked.length;
    await world.clock.advance(9000);
    expect(world.asked).toHaveLength(looks);
    gone.add('b');
    await world.clock.advance(2000);
    expect(world.asked.length).toBeGreaterThan(looks);
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

  it('is named where a threshold is given that nothing is compared with', async () => {
    const warned: unknown[] = [];
    const logger = { ...silentLogger, warn: (fields: unknown) => void warned.push(fields) };
    const { manager } = evictionWorld([], {}, { evictionHard: { 'containerfs.available': '10%' }, logger });
    manager.start();
    expect(warned).toEqual([{ signal: 'containerfs.available' }]);
  });

  it('is not waited for by stop, which leaves no timer, nor is a pod that does not end', async () => {
    const hangs = evictionWorld([podNamed('a')], { a: using(1) }, { killPod: () => new Promise(() => undefined) });
    hangs.node.now = memory(1);
    hangs.manager.start();
    await settle();
    await hangs.manager.stop();
    expect(hangs.clock.pendingTimers).toBe(0);
  });

  it('is not waited for by stop either, which leaves no timer', async () => {
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
