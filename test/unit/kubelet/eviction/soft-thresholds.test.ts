import { describe, expect, it } from 'vitest';
import type { EvictionManagerOptions } from '../../../../src/kubelet/eviction/eviction-options.ts';
import { evictionWorld, MiB, memory, namesOf, podNamed, using } from './eviction-harness.ts';

const soft: Partial<EvictionManagerOptions> = {
  evictionHard: { 'memory.available': '100Mi' },
  evictionSoft: { 'memory.available': '300Mi' },
  evictionSoftGracePeriodMs: { 'memory.available': 30_000 },
  maxPodGracePeriodSeconds: 45,
};

describe('a soft threshold', () => {
  it('counts as running short at once, and evicts once its grace period is over', async () => {
    const { clock, node, killed, manager } = evictionWorld([podNamed('a')], { a: using(1) }, soft);
    node.now = memory(200);
    manager.start();
    await clock.advance(25_000);
    expect([manager.pressures.memory, killed]).toEqual([true, []]);
    await clock.advance(10_000);
    expect(namesOf(killed)).toEqual(['a']);
    expect(killed[0]?.status.message).toBe(
      'The node was low on resource: memory. Threshold quantity: 300Mi, available: 200Mi. ' +
        'Container app was using 1Mi, request is 0, has larger consumption of memory. ',
    );
  });

  it('begins its grace period anew after it was not met', async () => {
    const { clock, node, killed, manager } = evictionWorld([podNamed('a')], { a: using(1) }, soft);
    node.now = memory(200);
    manager.start();
    await clock.advance(25_000);
    node.now = memory(400);
    await clock.advance(10_000);
    node.now = memory(200);
    await clock.advance(30_000);
    expect(killed).toEqual([]);
    await clock.advance(10_000);
    expect(namesOf(killed)).toEqual(['a']);
  });

  it.each([
    [undefined, 45],
    [30, 30],
    [100, 45],
  ])('gives a pod with the grace period %s %i s to end, where a hard one gives 1', async (terminationGracePeriodSeconds, seconds) => {
    const spec = terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodSeconds };
    for (const [availableMiB, expected] of [
      [200, seconds],
      [50, 1],
    ] as const) {
      const pod = podNamed('a', {}, spec);
      if (terminationGracePeriodSeconds === undefined) delete pod.spec?.terminationGracePeriodSeconds;
      const { clock, node, killed, manager } = evictionWorld([pod], { a: using(1) }, soft);
      node.now = memory(availableMiB);
      manager.start();
      await clock.advance(35_000);
      expect(killed.map(({ gracePeriodSeconds }) => gracePeriodSeconds)).toEqual([expected]);
    }
  });

  it('gives a hard one the precedence that is met as well', async () => {
    const { clock, node, killed, manager } = evictionWorld([podNamed('a'), podNamed('b')], { a: using(1), b: using(2) }, soft);
    node.now = memory(200);
    manager.start();
    await clock.advance(25_000);
    node.now = memory(50);
    await clock.advance(10_000);
    expect(killed[0]).toMatchObject({ name: 'b', gracePeriodSeconds: 1 });
    expect(killed[0]?.status.message).toContain('Threshold quantity: 100Mi, available: 50Mi.');
  });
});

describe('what has to be reclaimed', () => {
  const options = { evictionHard: { 'memory.available': '100Mi' }, evictionMinimumReclaim: { 'memory.available': '50Mi' } };

  it('is reclaimed once pods had to go, and asks for nobody before', async () => {
    const pods = ['a', 'b', 'c'].map((name) => podNamed(name));
    const { clock, node, killed, manager } = evictionWorld(pods, { a: using(1), b: using(2), c: using(3) }, options);
    node.now = memory(140);
    manager.start();
    await clock.advance(60_000);
    expect(killed).toEqual([]);
    node.now = memory(99);
    await clock.advance(10_000);
    node.now = memory(149);
    await clock.advance(1000);
    expect(namesOf(killed)).toEqual(['c', 'b']);
    expect(killed[1]?.status.message).toContain('Threshold quantity: 100Mi, available: 149Mi.');
    node.now = memory(150);
    await clock.advance(60_000);
    expect(namesOf(killed)).toEqual(['c', 'b']);
  });

  it('is a share of the capacity, too', async () => {
    const evictionMinimumReclaim = { 'memory.available': '10%' };
    const pods = [podNamed('a'), podNamed('b')];
    const { clock, node, killed, manager } = evictionWorld(
      pods,
      { a: using(1), b: using(2) },
      { ...options, evictionMinimumReclaim },
    );
    node.now = memory(99);
    manager.start();
    await clock.advance(100);
    node.now = memory(199);
    await clock.advance(5000);
    expect(namesOf(killed)).toEqual(['b', 'a']);
  });

  it('keeps the pods where freeing the disk brings it, and not where that brings the threshold alone', async () => {
    const disk = (mib: number) => ({ nodefs: { available: mib * MiB, capacity: 1000 * MiB }, hasDedicatedImagefs: false });
    for (const [freedMiB, evicted] of [
      [149, ['a']],
      [151, []],
    ] as const) {
      const reclaim = async () => {
        world.node.now = disk(freedMiB);
      };
      const world = evictionWorld(
        [podNamed('a')],
        { a: using(1) },
        { evictionHard: { 'nodefs.available': '10%' }, evictionMinimumReclaim: { 'nodefs.available': '5%' }, reclaim },
      );
      world.node.now = disk(99);
      world.manager.start();
      await world.clock.advance(100);
      expect(namesOf(world.killed)).toEqual(evicted);
    }
  });
});

describe('memory that is read between two looks', () => {
  const short = { memory: { available: 50 * MiB, capacity: 1000 * MiB } };

  it('brings the next look within a second of a hard threshold that is met, and not before', async () => {
    let now: Awaited<ReturnType<NonNullable<EvictionManagerOptions['readMemory']>>> = memory(400);
    const { clock, node, killed, manager } = evictionWorld(
      [podNamed('a')],
      { a: using(1) },
      { ...soft, readMemory: async () => now },
    );
    node.now = memory(400);
    manager.start();
    await clock.advance(2500);
    now = memory(200);
    node.now = memory(200);
    await clock.advance(1000);
    expect(manager.pressures.memory).toBe(false);
    now = short;
    node.now = memory(50);
    await clock.advance(1000);
    expect(namesOf(killed)).toEqual(['a']);
  });

  it('is no news while it stays short: the node is told of at each look alone', async () => {
    const readMemory = async () => short;
    const { clock, node, events, manager } = evictionWorld([], {}, { ...soft, readMemory });
    node.now = memory(50);
    manager.start();
    await clock.advance(30_500);
    expect(events.filter((event) => event.startsWith('node EvictionThresholdMet'))).toHaveLength(4);
  });

  it('changes nothing where it cannot be read, and stop leaves no timer', async () => {
    const readMemory = () => Promise.reject(new Error('no meminfo'));
    const { clock, node, killed, manager } = evictionWorld([podNamed('a')], { a: using(1) }, { ...soft, readMemory });
    manager.start();
    await clock.advance(5000);
    node.now = memory(50);
    await clock.advance(4000);
    expect(killed).toEqual([]);
    await clock.advance(1500);
    expect(namesOf(killed)).toEqual(['a']);
    await manager.stop();
    expect(clock.pendingTimers).toBe(0);
  });
});
