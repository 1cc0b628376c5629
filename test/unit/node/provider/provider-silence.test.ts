import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { never, ProviderWorld } from './provider-world.ts';

const silences = (count: number) => Array.from({ length: count }, () => never);

describe('a provider that left several calls of getPodStatus without an answer', () => {
  it('is asked again, twice a minute at most, and the pod goes on once it answers', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    const asked = () => world.provider.questions.get('web') ?? 0;
    world.provider.next('getPodStatus', 'web', ...silences(1000));
    await world.clock.advance(300_000);
    const before = asked();
    await world.clock.advance(3_600_000);
    expect(asked() - before).toBeGreaterThan(60);
    expect(asked() - before).toBeLessThanOrEqual(120);
    world.provider.interferences.clear();
    world.provider.set('web', { phase: 'Running', message: 'back' });
    await world.clock.advance(60_000);
    expect(world.status('web').message).toBe('back');
  });

  it('is asked about a pod that ends, which is gone once it answers', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.next('getPodStatus', 'web', ...silences(1000));
    await world.clock.advance(300_000);
    await world.delete('web', 5);
    world.provider.interferences.clear();
    await world.clock.advance(90_000);
    expect([world.isGone('web'), world.provider.pods.size]).toEqual([true, 0]);
  });
});

describe('a provider whose getPods never answers', () => {
  const list = (name: string) => () => [{ metadata: { name, namespace: 'default', uid: name } }];

  it('is asked for its list again, so that an orphan is found later', async () => {
    await using world = new ProviderWorld();
    const answers = [...silences(8), list('orphan')];
    const { signal } = new AbortController();
    world.provider.next('getPods', '', ...answers);
    for (let i = 0; i < 8; i++) void world.syncer.pods.list(signal);
    await world.syncer.pods.list(signal);
    expect((await world.syncer.pods.getPods(signal)).map(({ uid }) => uid)).toEqual(['orphan']);
  });

  it('and then gives an old list says nothing by it', async () => {
    await using world = new ProviderWorld();
    const { signal } = new AbortController();
    const late = Promise.withResolvers<unknown>();
    world.provider.next('getPods', '', () => late.promise, list('new'));
    const old = world.syncer.pods.list(signal);
    await world.syncer.pods.list(signal);
    late.resolve(list('old')());
    await old;
    await settle(5);
    expect((await world.syncer.pods.getPods(signal)).map(({ uid }) => uid)).toEqual(['new']);
  });
});
