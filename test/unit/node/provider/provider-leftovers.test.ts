import { expect, it, vi } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { AbortListeners } from '../../../support/abort-listeners.ts';
import { never, ProviderWorld } from './provider-world.ts';

it('pods that come and go leave no listener on a signal', async () => {
  await using world = new ProviderWorld();
  const churn = async (name: string): Promise<void> => {
    await world.create(name);
    world.store.patch('default', name, { type: 'application/merge-patch+json', body: { metadata: { labels: { a: name } } } });
    await settle(20);
    world.provider.next('getPodStatus', name, () => Promise.reject(new Error('busy')));
    await world.clock.advance(10_000);
    await world.delete(name, 1);
    await world.clock.advance(5_000);
    expect(world.isGone(name)).toBe(true);
  };
  using listeners = new AbortListeners();
  await churn('first');
  const before = listeners.left;
  for (const name of ['second', 'third', 'fourth']) await churn(name);
  expect(listeners.left).toBe(before);
  expect(world.provider.took().filter((call) => call.startsWith('updatePod'))).toHaveLength(4);
});

it('a pod that does not end, while its creation goes on, adds nothing to what waits for it', async () => {
  await using world = new ProviderWorld();
  using listeners = new AbortListeners();
  world.provider.next('createPod', 'web', never);
  world.provider.next('deletePod', 'web', ...Array.from({ length: 100 }, () => never));
  const { metadata } = await world.create('web');
  world.provider.pods.set(metadata?.uid ?? '', { pod: { metadata: metadata ?? {} }, status: { phase: 'Running' } });
  await world.delete('web', 1);
  await world.clock.advance(60_000);
  const before = listeners.left;
  const settled = world.syncer.pods.find(metadata?.uid ?? '')?.change?.settled as Promise<void>;
  const awaited = vi.spyOn(settled, 'then');
  await world.clock.advance(120_000);
  expect([listeners.left, awaited.mock.calls.length]).toEqual([before, 0]);
});

it('many calls at once do not listen to one signal', async () => {
  await using world = new ProviderWorld();
  using listeners = new AbortListeners();
  world.provider.next('createPod', '*', ...Array.from({ length: 50 }, () => never));
  for (let index = 0; index < 50; index++) await world.create(`pod-${index}`);
  expect(world.provider.took()).toHaveLength(50);
  expect(listeners.mostOnOne).toBeLessThan(5);
  world.syncer.stop();
  expect(world.provider.signals.every(({ aborted }) => aborted)).toBe(true);
});
