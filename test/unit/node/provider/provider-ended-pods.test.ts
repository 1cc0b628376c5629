import { describe, expect, it } from 'vitest';
import { buildStaticPod } from '../../../../src/testing/fakes/builders.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { byName, never, ProviderWorld, refuse } from './provider-world.ts';

describe('a pod that had ended before it is deleted', () => {
  const finished = async (world: ProviderWorld): Promise<string> => {
    const { metadata } = await world.create('job', { spec: { restartPolicy: 'Never' } });
    world.provider.set('job', { phase: 'Succeeded' });
    await world.clock.advance(10_000);
    expect(world.status('job').phase).toBe('Succeeded');
    world.provider.took();
    return metadata?.uid ?? '';
  };

  const setPhase = ({ store }: ProviderWorld, phase: string): void => {
    const body = { status: { phase } };
    store.patch('default', 'job', { type: 'application/merge-patch+json', subresource: 'status', body });
  };
  /** The deletion arrives before the status does: the server waits for the node. */
  const deleteAsRunning = async (world: ProviderWorld): Promise<void> => {
    setPhase(world, 'Running');
    await world.delete('job', 30);
    expect(world.isGone('job')).toBe(false);
  };

  it('stays on the server until its deletePod has settled', async () => {
    await using world = new ProviderWorld();
    await finished(world);
    const deletion = Promise.withResolvers<void>();
    world.provider.next('deletePod', 'job', (act) => deletion.promise.then(act));
    await deleteAsRunning(world);
    await world.clock.advance(15_000);
    expect([world.provider.took(), world.isGone('job')]).toEqual([['deletePod job 1'], false]);
    deletion.resolve();
    await world.clock.advance(1000);
    expect([world.provider.took(), world.isGone('job')]).toEqual([[], true]);
  });

  it('stays there while its deletePod fails, which is repeated later and later', async () => {
    await using world = new ProviderWorld();
    await finished(world);
    world.provider.next('deletePod', 'job', refuse, refuse, refuse);
    await deleteAsRunning(world);
    await world.clock.advance(55_000);
    expect(world.isGone('job')).toBe(false);
    expect(world.provider.took()).toHaveLength(3);
    await world.clock.advance(20_000);
    expect([world.provider.took(), world.isGone('job')]).toEqual([['deletePod job 1'], true]);
  });

  it('does not stay for ever where its deletePod never settles', async () => {
    await using world = new ProviderWorld();
    await finished(world);
    world.provider.next('deletePod', 'job', never);
    await deleteAsRunning(world);
    await world.clock.advance(45_000);
    expect(world.isGone('job')).toBe(true);
  });

  it('is gone without a deletePod where the provider has nothing of it any more', async () => {
    await using world = new ProviderWorld();
    await finished(world);
    world.provider.lose('job');
    await deleteAsRunning(world);
    await world.clock.advance(5000);
    expect([world.provider.took(), world.isGone('job')]).toEqual([[], true]);
  });

  it('is freed by the next run of the agent, too', async () => {
    const first = new ProviderWorld();
    Object.assign(first.provider, { getPods: undefined });
    await finished(first);
    await first.stop();
    await deleteAsRunning(first);
    setPhase(first, 'Succeeded');
    await using world = await first.restart();
    await world.clock.advance(15_000);
    expect([world.provider.took(), world.isGone('job')]).toEqual([[expect.stringContaining('deletePod job')], true]);
  });

  it('is an orphan when it is forced off the server meanwhile', async () => {
    await using world = new ProviderWorld();
    await finished(world);
    const signals: AbortSignal[] = [];
    world.provider.next('deletePod', 'job', (_, { signal }) => {
      signals.push(signal);
      return never();
    });
    await deleteAsRunning(world);
    await world.clock.advance(5000);
    world.store.remove('default', 'job');
    await settle(20);
    await world.clock.advance(5000);
    expect(signals[0]?.aborted).toBe(true);
    expect(world.provider.took()).toEqual(['deletePod job 1', 'deletePod job 1']);
    expect(world.provider.pods.size).toBe(0);
  });

  it('leaves no timer when the agent stops', async () => {
    const world = new ProviderWorld();
    await finished(world);
    world.provider.next('deletePod', 'job', never);
    await deleteAsRunning(world);
    await world.clock.advance(5000);
    await world.stop();
    await settle(20);
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('is not taken for the next pod of its name', async () => {
    await using world = new ProviderWorld();
    byName(world);
    const old = await finished(world);
    await world.delete('job', 30);
    expect(world.isGone('job')).toBe(true);
    const { metadata } = await world.create('job', { spec: { restartPolicy: 'Never' } });
    await world.clock.advance(15_000);
    expect(world.provider.took()).toEqual([`deletePod ${old}`, `createPod ${metadata?.uid}`]);
    expect(world.status('job').phase).toBe('Running');
  });
});

describe('a pod of the name of an earlier one', () => {
  it('waits until that one is deleted', async () => {
    await using world = new ProviderWorld();
    byName(world);
    const { metadata: old } = await world.create('web');
    world.provider.took();
    const deletion = Promise.withResolvers<void>();
    world.provider.next('deletePod', '*', (act) => deletion.promise.then(act));
    world.store.delete('default', 'web', { gracePeriodSeconds: 0 });
    const { metadata } = await world.create('web');
    await world.clock.advance(20_000);
    expect(world.provider.took()).toEqual([`deletePod ${old?.uid}`]);
    expect(world.status('web')).toMatchObject({
      phase: 'Pending',
      containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }],
    });
    expect(world.events).toEqual([expect.stringContaining(`ProviderPodWaits: The provider still has pod ${old?.uid}`)]);
    deletion.resolve();
    await world.clock.advance(2000);
    expect(world.provider.took()).toEqual([`createPod ${metadata?.uid}`]);
    expect(world.condition('web', 'Ready')).toBe('True');
    expect(world.status('web').containerStatuses).toMatchObject([{ restartCount: 0 }]);
  });

  it('waits for one that an earlier run of the agent has left', async () => {
    const first = new ProviderWorld();
    await first.create('web');
    await first.stop();
    first.store.remove('default', 'web');
    first.provider.took();
    const deletion = Promise.withResolvers<void>();
    first.provider.next('deletePod', 'web', (act) => deletion.promise.then(act));
    await using world = await first.restart();
    await world.syncer.pods.list(new AbortController().signal);
    await world.create('web');
    await world.clock.advance(10_000);
    expect(world.provider.took()).toEqual(['deletePod web 1']);
    deletion.resolve();
    await world.clock.advance(2000);
    expect(world.provider.took()).toEqual(['createPod web']);
  });

  it('does not wait for a static pod', async () => {
    await using world = new ProviderWorld();
    world.config.channel('file')([buildStaticPod({ metadata: { name: 'web', namespace: 'default', uid: 'static' } })]);
    await settle(20);
    await world.create('web');
    expect(world.provider.took()).toEqual(['createPod web', 'createPod web']);
  });
});
