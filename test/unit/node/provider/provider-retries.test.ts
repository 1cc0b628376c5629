import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import type { Interference } from './fake-provider.ts';
import { ProviderWorld } from './provider-world.ts';

const refuse = () => Promise.reject(new Error('try again'));
const times = (count: number, interference: Interference) => Array.from({ length: count }, () => interference);
/** The waits of a provider node of which nothing was said, each as long as it may be. */
const defaults = { backoffBaseMs: 500 };

/** When each of the provider's calls came, in milliseconds from now on. */
const callsWithin = async (world: ProviderWorld, ms: number, stepMs = 50): Promise<[call: string, atMs: number][]> => {
  const calls: [string, number][] = [];
  for (let at = 0; at <= ms; at += stepMs) {
    for (const call of world.provider.took()) calls.push([call, at]);
    await world.clock.advance(stepMs);
  }
  return calls;
};

describe('a call of the provider that has failed', () => {
  it('is made again after half a second, then later and later, up to five minutes', async () => {
    await using world = new ProviderWorld(defaults);
    world.provider.next('createPod', 'web', ...times(12, refuse));
    await world.create('web');
    const at = (await callsWithin(world, 1_300_000, 500)).map(([, ms]) => ms / 1000);
    expect(at).toEqual([0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 63.5, 127.5, 255.5, 511.5, 811.5, 1111.5]);
    expect(world.condition('web', 'Ready')).toBe('True');
  });

  it('is made again when it was said to, whatever the workers draw', async () => {
    await using world = new ProviderWorld(defaults, undefined, false, () => 1 - Number.EPSILON);
    world.provider.next('createPod', 'web', ...times(6, refuse));
    const { metadata } = await world.create('web');
    const promised: number[] = [];
    const made: number[] = [];
    for (let ms = 0; ms <= 32_000; ms += 10) {
      const { failure } = world.syncer.pods.find(metadata?.uid ?? '') ?? {};
      if (failure !== undefined && failure.retryAt !== promised.at(-1)) promised.push(failure.retryAt);
      if (world.provider.took().length > 0) made.push(world.clock.now());
      await world.clock.advance(10);
    }
    expect(made.slice(1)).toEqual(promised);
    expect(promised).toHaveLength(6);
  });

  it('waits between 100 ms and as long as it may, by chance, and as the options say', async () => {
    await using world = new ProviderWorld({ backoffBaseMs: 4000, backoffMaxMs: 6000, random: () => 0.25 });
    world.provider.next('createPod', 'web', ...times(3, refuse));
    await world.create('web');
    expect((await callsWithin(world, 10_000)).map(([, ms]) => ms)).toEqual([0, 1000, 2500, 4000]);
  });

  it('is not made again without a pause, whatever the random numbers are', async () => {
    await using world = new ProviderWorld({ ...defaults, random: () => 0 });
    world.provider.next('createPod', 'web', ...times(1000, refuse));
    await world.create('web');
    expect((await callsWithin(world, 500)).map(([, ms]) => ms)).toEqual([0, 100, 200, 300, 400, 500]);
  });

  it('refuses waits that are none', () => {
    expect(() => new ProviderWorld({ backoffBaseMs: 0 })).toThrow(/`backoffBaseMs` to be a number from 1/);
    expect(() => new ProviderWorld({ backoffBaseMs: 2000, backoffMaxMs: 1999 })).toThrow(
      /`backoffMaxMs` to be a number from 2000/,
    );
    expect(() => new ProviderWorld({ random: 1 as never })).toThrow('`random`');
  });

  it('delays its own pod alone: of 500 pods the others are ready when they would be without any failure', async () => {
    const count = 500;
    const methods = ['createPod', 'getPodStatus'] as const;
    const isFailing = (index: number): boolean => index % 20 === 7;
    /** When each pod was first ready, in milliseconds; each call takes 200 ms. */
    const readyAt = async (fails: (index: number) => boolean): Promise<(number | undefined)[]> => {
      await using world = new ProviderWorld(defaults);
      const { provider, clock, store } = world;
      const start = clock.now();
      const uids: string[] = [];
      world.isDeaf = true;
      for (const method of methods) {
        const plain = provider[method].bind(provider) as (...given: unknown[]) => unknown;
        const slow = async (...given: unknown[]): Promise<unknown> => {
          await new Promise<void>((resolve) => void clock.setTimer(resolve, 200));
          return plain(...given);
        };
        Object.assign(provider, { [method]: slow });
      }
      for (let index = 0; index < count; index++) {
        const name = `pod-${index}`;
        if (fails(index)) provider.next(methods[index % 40 === 7 ? 0 : 1], name, refuse);
        const { metadata } = store.create({
          metadata: { name },
          spec: { nodeName: 'node-1', containers: [{ name: 'a', image: 'a' }] },
        });
        uids.push(metadata?.uid ?? '');
      }
      const at: (number | undefined)[] = Array.from({ length: count });
      world.tellAll();
      await settle(500);
      for (let ms = 0; ms < 3000; ms += 100) {
        await clock.advance(100);
        await settle(20);
        for (const [index, uid] of uids.entries()) {
          const { conditions } = world.statusManager.getPodStatus(uid) ?? {};
          if (conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) at[index] ??= clock.now() - start;
        }
      }
      return at;
    };
    const [plain, failing] = [await readyAt(() => false), await readyAt(isFailing)];
    expect(plain.every((ms) => ms === plain[0] && ms !== undefined)).toBe(true);
    expect(failing.filter((_, index) => !isFailing(index))).toEqual(plain.filter((_, index) => !isFailing(index)));
    const late = failing.filter((_, index) => isFailing(index));
    expect([late.length, late.every((ms) => (ms ?? 0) > (plain[0] ?? 0) && (ms ?? 1e9) <= (plain[0] ?? 0) + 1000)]).toEqual([
      25,
      true,
    ]);
  }, 30_000);
});

describe('a question that has failed', () => {
  it('is asked again soon, later and later, and never later than a pod is asked about at all', async () => {
    await using world = new ProviderWorld({ ...defaults, pollIntervalMs: 3000 });
    await world.create('web');
    world.provider.took();
    world.provider.next('getPodStatus', 'web', ...times(6, refuse));
    const at: number[] = [];
    let asked = world.provider.questions.get('web');
    for (let ms = 0; ms < 20_000; ms += 500) {
      await world.clock.advance(500);
      if (world.provider.questions.get('web') !== asked) at.push(ms + 500);
      asked = world.provider.questions.get('web');
    }
    expect(at).toEqual([3000, 3500, 4500, 6500, 9500, 12_500, 15_500, 18_500]);
  });

  it('by a provider that tells of changes waits ten seconds at the most', async () => {
    await using world = new ProviderWorld(defaults);
    await world.create('web');
    world.provider.next('getPodStatus', 'web', ...times(200, refuse));
    await world.clock.advance(60_000);
    const before = world.provider.questions.get('web') ?? 0;
    await world.clock.advance(100_000);
    expect((world.provider.questions.get('web') ?? 0) - before).toBe(10);
  });
});

describe('a deletePod that has failed', () => {
  it('is made again within the grace period, and later and later after it', async () => {
    await using world = new ProviderWorld(defaults);
    await world.create('web');
    world.provider.took();
    world.provider.next('deletePod', 'web', ...times(6, refuse));
    world.store.delete('default', 'web', { gracePeriodSeconds: 2 });
    await world.clock.advance(0);
    const calls = await callsWithin(world, 60_000);
    expect(calls.map(([, ms]) => ms)).toEqual([0, 500, 1500, 2000, 6000, 14_000, 30_000]);
    expect(world.isGone('web')).toBe(true);
  });

  it('is made again soon for a pod that had ended before', async () => {
    await using world = new ProviderWorld(defaults);
    await world.create('job', { spec: { restartPolicy: 'Never' } });
    world.provider.set('job', { phase: 'Succeeded' });
    await world.clock.advance(10_000);
    world.provider.took();
    world.provider.next('deletePod', 'job', refuse);
    const body = { status: { phase: 'Running' } };
    world.store.patch('default', 'job', { type: 'application/merge-patch+json', subresource: 'status', body });
    await world.delete('job', 30);
    await world.clock.advance(6000);
    expect([world.provider.took().length, world.isGone('job')]).toEqual([2, true]);
  });

  it('is made again when it was said to, for a pod that had ended before', async () => {
    await using world = new ProviderWorld({ ...defaults, backoffBaseMs: 3300 });
    const { metadata } = await world.create('job', { spec: { restartPolicy: 'Never' } });
    world.provider.set('job', { phase: 'Succeeded' });
    await world.clock.advance(10_000);
    world.provider.took();
    world.provider.next('deletePod', 'job', refuse);
    const body = { status: { phase: 'Running' } };
    world.store.patch('default', 'job', { type: 'application/merge-patch+json', subresource: 'status', body });
    await world.delete('job', 30);
    const at: number[] = [];
    let promised: number | undefined;
    for (let ms = 0; ms < 10_000; ms += 10) {
      promised = world.syncer.pods.find(metadata?.uid ?? '')?.deleteFailure?.retryAt ?? promised;
      if (world.provider.took().length > 0) at.push(world.clock.now());
      await world.clock.advance(10);
    }
    expect(at).toHaveLength(2);
    expect(at[1]).toBe(promised);
  });
});
