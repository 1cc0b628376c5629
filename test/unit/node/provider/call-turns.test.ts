import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import type { Interference, Method } from './fake-provider.ts';
import { never, ProviderWorld, refuse } from './provider-world.ts';

type Options = ConstructorParameters<typeof ProviderWorld>[0];

/** A world in which each of the given calls takes its time, and that counts how many are under way. */
function slowWorld(options: Options, tookMs: Partial<Record<Method, number>> = {}) {
  const world = new ProviderWorld({ backoffBaseMs: 500, ...options });
  const seen = { most: 0, now: 0, begun: [] as [call: string, at: number][] };
  const start = world.clock.now();
  const { provider, clock } = world;
  for (const method of ['createPod', 'updatePod', 'deletePod', 'getPodStatus'] as const) {
    const plain = provider[method].bind(provider) as (...given: never[]) => unknown;
    const slow = async (...given: never[]): Promise<unknown> => {
      const [pod] = given as unknown as [{ metadata: { name: string } }];
      seen.begun.push([`${method} ${pod.metadata.name}`, clock.now() - start]);
      seen.now += 1;
      seen.most = Math.max(seen.most, seen.now);
      try {
        const ms = tookMs[method] ?? 0;
        if (ms > 0) await new Promise<void>((resolve) => void clock.setTimer(resolve, ms));
        return await plain(...given);
      } finally {
        seen.now -= 1;
      }
    };
    Object.assign(provider, { [method]: slow });
  }
  return { world, seen };
}

const make = (world: ProviderWorld, count: number, prefix = 'pod'): void => {
  const spec = { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:1' }] };
  for (let index = 0; index < count; index++) world.store.create({ metadata: { name: `${prefix}-${index}` }, spec });
};
const ready = (world: ProviderWorld): number =>
  world.store.list().filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
    .length;
const hang = (count: number): Interference[] => Array.from({ length: count }, () => never);

describe('a limit of the calls under way', () => {
  it('is kept, and all pods come to run', async () => {
    const { world, seen } = slowWorld({ concurrency: 4 }, { createPod: 1000, getPodStatus: 100 });
    await using _ = world;
    make(world, 20);
    await settle(50);
    // three places for creations, one for the others
    await world.clock.advance(9000);
    expect([seen.most, ready(world)]).toEqual([4, 20]);
  });

  it('lets a deletion go first of all creations that wait, and a question', async () => {
    const { world, seen } = slowWorld({ concurrency: 2 }, { createPod: 1000 });
    await using _ = world;
    await world.create('old');
    await world.clock.advance(2000);
    make(world, 100);
    await settle(50);
    await world.clock.advance(1500);
    await world.delete('old', 5);
    await world.clock.advance(1000);
    expect([seen.most, world.isGone('old')]).toEqual([2, true]);
    expect(ready(world)).toBeLessThan(5);
  });

  it('with one place alone lets each lane have its turn', async () => {
    const { world, seen } = slowWorld({ concurrency: 1 }, { createPod: 1000 });
    await using _ = world;
    await world.create('old');
    await world.clock.advance(2000);
    make(world, 50);
    await settle(50);
    await world.delete('old', 30);
    await world.clock.advance(6000);
    expect([world.isGone('old'), seen.most]).toEqual([true, 1]);
  });

  it('is not used up by creations that hang', async () => {
    await using world = new ProviderWorld({ concurrency: 3, changeTimeoutMs: 60_000 });
    await world.create('old');
    for (const name of ['a', 'b']) {
      world.provider.next('createPod', name, ...hang(1));
      await world.create(name);
    }
    await world.create('waits');
    expect(world.provider.took()).toEqual(['createPod old', 'createPod a', 'createPod b']);
    await world.delete('old', 1);
    await world.clock.advance(1000);
    expect(world.isGone('old')).toBe(true);
    expect(world.provider.took()).toEqual(['deletePod old 1']);
    await world.clock.advance(57_000);
    expect(world.provider.took()).toEqual([]);
    await world.clock.advance(3000);
    expect(world.provider.took()).toEqual(['createPod waits']);
    expect(world.condition('waits', 'Ready')).toBe('True');
  });

  it('is given back by a deletion that never settles', async () => {
    await using world = new ProviderWorld({ concurrency: 1, changeTimeoutMs: 60_000 });
    await world.create('old');
    world.provider.next('deletePod', 'old', never);
    await world.delete('old', 3600);
    await world.create('new');
    world.provider.took();
    await world.clock.advance(58_000);
    expect(world.provider.took()).toEqual([]);
    await world.clock.advance(4000);
    expect(world.provider.took()).toEqual(['createPod new']);
  });

  it('is given back by a call that is aborted and does not settle', async () => {
    await using world = new ProviderWorld({ concurrency: 1, callTimeoutMs: 3000 });
    world.provider.next('createPod', 'first', never);
    await world.create('first');
    await world.create('second');
    expect(world.provider.took()).toEqual(['createPod first']);
    await world.delete('first', 5);
    await world.clock.advance(2000);
    expect(world.provider.took()).toEqual(['createPod second']);
    world.provider.next('getPodStatus', 'second', never);
    await world.clock.advance(20_000);
    await world.create('third');
    await world.clock.advance(5000);
    expect(world.condition('third', 'Ready')).toBe('True');
  });

  it('makes no deletion late that waits', async () => {
    await using world = new ProviderWorld({ concurrency: 1, changeTimeoutMs: 200_000 });
    const { metadata } = await world.create('old');
    world.provider.next('createPod', 'first', never);
    await world.create('first');
    await world.delete('old', 1);
    await world.clock.advance(150_000);
    const uid = metadata?.uid ?? '';
    expect([world.workers.explain(uid)?.failure, world.syncer.pods.find(uid)?.waiting]).toEqual([undefined, expect.anything()]);
    await world.clock.advance(60_000);
    expect(world.isGone('old')).toBe(true);
  });

  it('keeps no pod that is deleted while it waits: the provider never hears of it', async () => {
    await using world = new ProviderWorld({ concurrency: 2 });
    world.provider.next('createPod', 'first', never);
    await world.create('first');
    const { metadata } = await world.create('second');
    expect(world.syncer.pods.find(metadata?.uid ?? '')?.waiting?.method).toBe('createPod');
    await world.delete('second', 30);
    await world.clock.advance(5000);
    expect(world.provider.took()).toEqual(['createPod first']);
    expect(world.isGone('second')).toBe(true);
  });

  it('counts no wait against the time that a call may take', async () => {
    const options = { concurrency: 1, callTimeoutMs: 1500, changeTimeoutMs: 2000 };
    const { world, seen } = slowWorld(options, { createPod: 1000, deletePod: 1000 });
    await using _ = world;
    make(world, 20);
    await settle(50);
    await world.clock.advance(60_000);
    expect([ready(world), seen.most, world.events]).toEqual([20, 1, []]);
    for (let index = 0; index < 20; index++) world.store.delete('default', `pod-${index}`, { gracePeriodSeconds: 1 });
    await world.clock.advance(120_000);
    expect([world.store.list().length, world.events]).toEqual([0, []]);
  });

  it('is no reason to wait for ever, and a long wait is told', async () => {
    await using world = new ProviderWorld({ concurrency: 1 });
    world.provider.next('createPod', 'first', never);
    await world.create('first');
    const { metadata } = await world.create('second');
    const uid = metadata?.uid ?? '';
    await world.clock.advance(9000);
    expect(world.syncer.pods.find(uid)?.waiting).toMatchObject({ method: 'getPodStatus' });
    expect(world.syncer.problemOf(uid)).toBeUndefined();
    await world.clock.advance(2000);
    expect(world.syncer.problemOf(uid)).toEqual({
      kind: 'waits-for-turn',
      message: expect.stringMatching(/^getPodStatus\(\) waits for its turn: 1 calls of the provider are under way, and \d wait$/),
      attempt: 0,
      since: expect.any(Number),
      help: expect.stringContaining('pods.concurrency'),
      podUID: uid,
      podNamespace: 'default',
      podName: 'second',
    });
  });

  it('leaves nothing that waits once the syncer has stopped', async () => {
    const world = new ProviderWorld({ concurrency: 2, rateLimiter: { qps: 1, burst: 1 } });
    world.provider.next('createPod', '*', ...hang(5));
    make(world, 5);
    await settle(50);
    await world.clock.advance(10_000);
    await world.stop();
    expect([...world.syncer.pods.all()].flatMap(({ waits }) => [...waits])).toEqual([]);
    const before = world.provider.took().length;
    await world.clock.advance(600_000);
    expect([world.provider.took(), before > 0]).toEqual([[], true]);
    expect(world.clock.pendingTimers).toBe(0);
  });
});

describe('a rate of calls', () => {
  it('is kept by first calls and by retries', async () => {
    const { world, seen } = slowWorld({ rateLimiter: { qps: 2, burst: 1 }, pollIntervalMs: 600_000 });
    await using _ = world;
    world.provider.next('createPod', '*', ...Array.from({ length: 3 }, () => refuse));
    make(world, 6);
    await settle(50);
    for (let ms = 0; ms < 30_000; ms += 100) await world.clock.advance(100);
    expect(seen.begun.filter(([call]) => call.startsWith('createPod'))).toHaveLength(9);
    const gaps = seen.begun.slice(1).map(([, at], index) => at - (seen.begun[index]?.[1] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(500);
    expect(ready(world)).toBe(6);
  });

  it('puts no deletion behind creations', async () => {
    const { world, seen } = slowWorld({ rateLimiter: { qps: 10, burst: 1 } });
    await using _ = world;
    await world.create('old');
    await world.clock.advance(2000);
    make(world, 300);
    await settle(50);
    await world.delete('old', 30);
    await world.clock.advance(2000);
    expect(seen.begun.map(([call]) => call)).toContain('deletePod old');
  });
});

describe('the limits', () => {
  it.each([
    ['`concurrency` to be an integer', { concurrency: 0 }],
    ['`rateLimiter`', { rateLimiter: 5 as never }],
    ['`rateLimiter.qps`', { rateLimiter: { qps: 0, burst: 1 } }],
    ['`rateLimiter.burst`', { rateLimiter: { qps: 1, burst: 0 } }],
  ])('are checked: %s', (name, options) => {
    expect(() => new ProviderWorld(options)).toThrow(name);
  });
});
