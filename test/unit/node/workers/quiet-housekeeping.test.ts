import { describe, expect, it } from 'vitest';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { LoopWorld } from './loop-world.ts';
import { World, pod as workersPod } from './workers-world.ts';

const pod = (uid: string, metadata = {}) => buildPod({ metadata: { name: uid, uid, ...metadata } });

/** A loop that has begun with these pods, and has looked at them once. */
async function looked(pods = [pod('web')], prepare: (world: LoopWorld) => void = () => {}): Promise<LoopWorld> {
  const world = await LoopWorld.started({ quietHousekeepingIntervalMs: 15_000 });
  world.changes = 7;
  await world.send('ADD', pods);
  prepare(world);
  await world.housekeeping();
  expect(world.desired).toHaveLength(1);
  return world;
}

/** How many of the next ticks, one every two seconds, have led to a look. */
async function looksIn(world: LoopWorld, ticks: number): Promise<number> {
  const before = world.desired.length;
  for (let i = 0; i < ticks; i++) await world.housekeeping();
  return world.desired.length - before;
}

describe('a node where nothing has changed since the last look', () => {
  it('is looked at again before the quiet interval is over, and not sooner than that takes', async () => {
    await using world = await looked();
    // the eighth would be 16 s after the last look
    expect(await looksIn(world, 6)).toBe(0);
    expect(await looksIn(world, 1)).toBe(1);
    expect(await looksIn(world, 6)).toBe(0);
    expect(await looksIn(world, 1)).toBe(1);
  });

  it('asks the runtime for no list meanwhile, and ends what that lists at the next look', async () => {
    await using world = await looked();
    let lists = 0;
    world.running = () => {
      lists += 1;
      return [{ uid: 'orphan', name: 'orphan', namespace: 'default' }];
    };
    world.took();
    await looksIn(world, 6);
    expect(lists).toBe(0);
    await looksIn(world, 1);
    expect(lists).toBe(1);
    expect(world.took()).toEqual(['kill orphan']);
  });

  it('is looked at every time where the workers count no changes, or no quiet interval is given', async () => {
    await using uncounted = await looked([pod('web')], (world) => {
      world.changes = undefined;
    });
    expect(await looksIn(uncounted, 3)).toBe(3);
    await using plain = await LoopWorld.started();
    plain.changes = 7;
    await plain.send('ADD', [pod('web')]);
    expect(await looksIn(plain, 3)).toBe(3);
  });

  it('is looked at every time without a quiet interval, also where a look takes time', async () => {
    let elapsed = 0;
    const world: LoopWorld = new LoopWorld({
      clock: {
        now: () => world.clock.now(),
        elapsed: () => world.clock.elapsed() + elapsed,
        setTimer: (fire, delayMs, options) => world.clock.setTimer(fire, delayMs, options),
      },
      onHousekeeping: () => {
        elapsed += 100;
      },
    });
    world.changes = 7;
    world.loop.start();
    await world.send('ADD', [pod('web')]);
    expect(await looksIn(world, 5)).toBe(5);
    await world[Symbol.asyncDispose]();
  });

  it('takes an interval, in milliseconds', () => {
    expect(() => new LoopWorld({ quietHousekeepingIntervalMs: 0 })).toThrow('quietHousekeepingIntervalMs');
  });
});

describe('a node is looked at every time', () => {
  it.each<[string, (world: LoopWorld) => unknown]>([
    ['after an update of a source', (world) => world.send('UPDATE', [pod('web', { labels: { a: 'b' } })])],
    [
      'after a change that the workers have counted',
      (world) => {
        world.changes = 8;
      },
    ],
    [
      'after a change that the runtime has counted',
      (world) => {
        world.runtimeChanges += 1;
      },
    ],
    ['after a change of a pod that there is not', (world) => world.loop.podChanged('unknown')],
  ])('%s', async (_, change) => {
    await using world = await looked();
    expect(await looksIn(world, 1)).toBe(0);
    await change(world);
    expect(await looksIn(world, 1)).toBe(1);
    expect(await looksIn(world, 1)).toBe(0);
  });

  it.each<[string, (world: LoopWorld) => unknown, string[]?]>([
    ['while a pod ends', (world) => world.known.set('web', 'terminating')],
    ['while the workers have a pod that nobody wants', (world) => world.known.set('other', 'sync')],
    ['while a pod does not begin', (world) => world.known.set('poison', 'sync'), ['poison']],
    [
      'while the runtime gives no list',
      (world) => {
        world.running = () => Promise.reject(new Error('no'));
      },
    ],
    [
      'while a list of the runtime is waited for',
      (world) => {
        world.running = () => new Promise<never>(() => {});
      },
    ],
  ])('%s', async (_, prepare, uids = []) => {
    await using world = await LoopWorld.started({ quietHousekeepingIntervalMs: 15_000 });
    world.changes = 7;
    await world.send(
      'ADD',
      ['web', ...uids].map((uid) => pod(uid)),
    );
    await prepare(world);
    if (uids.length > 0) world.known.delete('poison');
    expect(await looksIn(world, 3)).toBe(3);
  });

  it('while a step of the look fails', async () => {
    await using world = await LoopWorld.started({
      quietHousekeepingIntervalMs: 15_000,
      onHousekeeping: () => {
        throw new Error('no');
      },
    });
    world.changes = 7;
    await world.send('ADD', [pod('web')]);
    expect(await looksIn(world, 3)).toBe(3);
    expect(world.errors).toContain('a step of housekeeping failed');
  });

  it('once more where a list came that was asked for before the last look', async () => {
    await using world = await LoopWorld.started({ quietHousekeepingIntervalMs: 15_000 });
    world.changes = 7;
    await world.send('ADD', [pod('web')]);
    const list = Promise.withResolvers<never[]>();
    world.running = () => list.promise;
    expect(await looksIn(world, 2)).toBe(2);
    list.resolve([]);
    world.running = () => [];
    expect(await looksIn(world, 1)).toBe(1);
    expect(await looksIn(world, 1)).toBe(0);
  });

  it('while a deleted pod is there, whatever the workers say of it', async () => {
    const deleted = pod('web', { deletionTimestamp: '2000-01-01T00:00:00Z' });
    await using world = await looked([deleted], ({ known }) => known.set('web', 'terminated'));
    expect(await looksIn(world, 3)).toBe(3);
  });
});

describe('the changes of workers', () => {
  it('grow with each state of a pod, and not with a sync', async () => {
    const world = new World();
    const { workers } = world;
    const seen: number[] = [];
    const grown = (): boolean => {
      seen.push(workers.changes);
      return workers.changes > (seen.at(-2) ?? 0);
    };
    await world.update('create', workersPod('a'));
    expect(grown(), 'a pod has come').toBe(true);
    await world.end('a');
    await world.update('update', workersPod('a', { version: '2' }));
    await world.end('a');
    workers.syncKnownPods([workersPod('a')]);
    expect(grown(), 'it was synced').toBe(false);
    await world.update('update', workersPod('a', { deletion: 5 }));
    expect(grown(), 'it is to end').toBe(true);
    await world.end('a');
    expect(grown(), 'nothing of it runs').toBe(true);
    await world.end('a');
    expect(grown(), 'nothing is left to do').toBe(true);
    await world.update('create', workersPod('a'));
    expect(grown(), 'it is to be created again').toBe(true);
    workers.syncKnownPods([workersPod('a')]);
    expect(grown(), 'it is forgotten').toBe(true);
    workers.syncKnownPods([]);
    expect(grown(), 'there is none').toBe(false);
  });

  it('grow with a pod that has come to its end by itself, and with one that nobody wants', async () => {
    const world = new World();
    await world.update('create', workersPod('a'));
    const before = world.workers.changes;
    await world.end('a', { isTerminal: true });
    expect(world.workers.changes).toBeGreaterThan(before);
    await world.update('create', workersPod('b'));
    await world.end('b');
    const wanted = world.workers.changes;
    world.workers.syncKnownPods([workersPod('a')]);
    expect(world.workers.changes).toBeGreaterThan(wanted);
  });
});
