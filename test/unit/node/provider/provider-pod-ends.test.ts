import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { never, ProviderWorld, refuse } from './provider-world.ts';

describe('a pod that ends', () => {
  it('is deleted with its grace period, waited for, and then gone', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.took();
    world.provider.endsAfterMs = 4000;
    await world.delete('web', 20);
    expect(world.provider.took()).toEqual(['deletePod web 20']);
    const { patches } = world;
    await world.clock.advance(3999);
    expect([world.isGone('web'), world.status('web').phase]).toEqual([false, 'Running']);
    expect(world.patches).toBe(patches);
    await world.clock.advance(3000);
    expect(world.isGone('web')).toBe(true);
    expect(world.provider.took()).toEqual([]);
  });

  it('has a new version of its status only where that has changed, however long it takes', async () => {
    await using world = new ProviderWorld();
    const { uid = '' } = (await world.create('web')).metadata ?? {};
    const version = (): number => world.statusManager.explain(uid).version ?? 0;
    const before = version();
    world.provider.endsAfterMs = 50_000;
    await world.delete('web', 60);
    await world.clock.advance(20_000);
    // the one that tells of the deletion
    expect([before, version()]).toEqual([1, 2]);
    world.provider.set('web', { phase: 'Running', podIP: '10.0.0.1', message: 'draining' });
    await world.clock.advance(20_000);
    expect(version()).toBe(3);
    expect(world.status('web').message).toBe('draining');
    await world.clock.advance(40_000);
    expect(world.isGone('web')).toBe(true);
  });

  it('has no new version of its status while its provider refuses to delete it', async () => {
    await using world = new ProviderWorld();
    const { uid = '' } = (await world.create('web')).metadata ?? {};
    world.provider.next('deletePod', 'web', ...Array.from({ length: 20 }, () => refuse));
    await world.delete('web', 60);
    await world.clock.advance(100_000);
    expect(world.syncer.pods.find(uid)?.deleteFailure?.attempt).toBeGreaterThan(3);
    expect(world.statusManager.explain(uid).version).toBe(2);
  });

  it('is asked to end sooner when its grace period shrinks', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.took();
    world.provider.endsAfterMs = 600_000;
    await world.delete('web', 300);
    await world.clock.advance(1000);
    await world.delete('web', 3);
    expect(world.provider.took()).toEqual(['deletePod web 300', 'deletePod web 3']);
    await world.clock.advance(5000);
    expect(world.isGone('web')).toBe(true);
  });

  it('does not count as ended while its provider says that it runs, or says nothing', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.took();
    const stays = () => undefined;
    world.provider.next('deletePod', 'web', stays, refuse, stays);
    world.provider.next('getPodStatus', 'web', (act) => act(), refuse);
    await world.delete('web', 5);
    await world.clock.advance(34_000);
    expect(world.provider.took()).toEqual(['deletePod web 5']);
    expect(world.isGone('web')).toBe(false);
    await world.clock.advance(30_000);
    expect(world.provider.took()).toEqual(['deletePod web 5', 'deletePod web 5']);
    expect(world.isGone('web')).toBe(false);
    await world.clock.advance(60_000);
    expect(world.provider.took()).toEqual(['deletePod web 5']);
    expect(world.isGone('web')).toBe(true);
  });

  it('ends without an answer of deletePod once its provider says that nothing of it runs', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.next('deletePod', 'web', (act) => {
      act();
      return never();
    });
    await world.delete('web', 5);
    await world.clock.advance(34_000);
    expect(world.isGone('web')).toBe(false);
    await world.clock.advance(4000);
    expect(world.isGone('web')).toBe(true);
  });

  it('says how its containers have ended', async () => {
    await using world = new ProviderWorld();
    await world.create('web', { metadata: { finalizers: ['example.com/hold'] } });
    const terminated = { exitCode: 3, reason: 'Error' };
    world.provider.end = () => ({
      phase: 'Running',
      containerStatuses: [{ name: 'app', image: '', imageID: '', ready: false, restartCount: 0, state: { terminated } }],
    });
    await world.delete('web', 5);
    await world.clock.advance(5000);
    expect(world.status('web')).toMatchObject({ phase: 'Failed', containerStatuses: [{ state: { terminated } }] });
  });

  it('while it is being created is aborted, and deleted whatever becomes of its creation', async () => {
    await using world = new ProviderWorld();
    const creation = Promise.withResolvers<void>();
    let signal: AbortSignal | undefined;
    world.provider.next('createPod', 'web', (act, call) => {
      signal = call.signal;
      return creation.promise.then(act);
    });
    await world.create('web');
    await world.clock.advance(2000);
    await world.delete('web', 5);
    expect(signal?.aborted).toBe(true);
    await world.clock.advance(4999);
    expect(world.provider.took()).toEqual(['createPod web']);
    await world.clock.advance(1);
    expect(world.provider.took()).toEqual(['deletePod web 5']);
    await world.clock.advance(10_000);
    expect(world.isGone('web')).toBe(false);
    creation.resolve();
    await settle(20);
    expect(world.provider.took()).toEqual(['deletePod web 5']);
    expect(world.provider.pods.size).toBe(0);
    await world.clock.advance(5000);
    expect(world.isGone('web')).toBe(true);
    expect(world.provider.took()).toEqual([]);
  });

  it('is deleted once the creation has settled that was aborted for it, also where nothing is seen of it yet', async () => {
    await using world = new ProviderWorld();
    const creation = Promise.withResolvers<void>();
    world.provider.next('createPod', 'web', (act) => creation.promise.then(act));
    world.provider.next('getPodStatus', 'web', ...Array.from({ length: 9 }, () => () => undefined));
    await world.create('web');
    await world.delete('web', 30);
    await world.clock.advance(3000);
    expect(world.provider.took()).toEqual(['createPod web']);
    creation.resolve();
    await settle(20);
    expect(world.provider.took()).toEqual(['deletePod web 30']);
    expect(world.provider.pods.size).toBe(0);
    await world.clock.advance(5000);
    expect(world.isGone('web')).toBe(true);
    expect(world.provider.took()).toEqual([]);
  });

  it('is deleted after an aborted creation whose grace period has shrunk meanwhile', async () => {
    await using world = new ProviderWorld();
    const creation = Promise.withResolvers<void>();
    world.provider.next('createPod', 'web', (act) => creation.promise.then(act));
    await world.create('web');
    await world.delete('web', 300);
    await world.clock.advance(1000);
    await world.delete('web', 2);
    creation.resolve();
    await settle(20);
    expect(world.provider.took()).toEqual(['createPod web', 'deletePod web 2']);
    expect(world.provider.pods.size).toBe(0);
  });

  it('and is created long after it was given up, is deleted then', async () => {
    await using world = new ProviderWorld();
    Object.assign(world.provider, { getPods: undefined });
    const creation = Promise.withResolvers<void>();
    world.provider.next('createPod', 'web', (act) => creation.promise.then(act));
    await world.create('web');
    await world.delete('web', 5);
    await world.clock.advance(60_000);
    expect(world.isGone('web')).toBe(true);
    world.provider.took();
    creation.resolve();
    await settle(20);
    expect(world.provider.pods.size).toBe(1);
    await world.clock.advance(5000);
    expect(world.provider.took()).toEqual(['deletePod web 1']);
    expect(world.provider.pods.size).toBe(0);
  });

  it('whose creation ends for that is not said to have failed', async () => {
    await using world = new ProviderWorld();
    world.provider.next('createPod', 'web', (_, { signal }) => {
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    await world.create('web');
    await world.delete('web', 5);
    await world.clock.advance(5000);
    expect([world.isGone('web'), world.events]).toEqual([true, []]);
  });

  it('and has just ended by itself is deleted before it is gone', async () => {
    await using world = new ProviderWorld();
    await world.create('job', { spec: { restartPolicy: 'Never' } });
    world.provider.took();
    world.provider.set('job', { phase: 'Succeeded' });
    await world.delete('job', 30);
    expect(world.provider.took()).toEqual(['deletePod job 30']);
    await world.clock.advance(3000);
    expect(world.isGone('job')).toBe(true);
  });

  it('is freed by a provider that lists nothing, too', async () => {
    await using world = new ProviderWorld();
    Object.assign(world.provider, { getPods: undefined });
    await world.create('job', { spec: { restartPolicy: 'Never' } });
    world.provider.set('job', { phase: 'Succeeded' });
    await world.clock.advance(10_000);
    world.provider.took();
    await world.delete('job', 30);
    await world.clock.advance(5000);
    expect(world.provider.took()).toEqual(['deletePod job 1']);
    expect(world.syncer.pods.find('job')).toBeUndefined();
  });

  it('by eviction says so', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    const pod = world.podManager.getPods()[0];
    if (pod === undefined) throw new Error('no pod');
    const podStatusFn = (status: { phase?: string; reason?: string }): void => {
      Object.assign(status, { phase: 'Failed', reason: 'Evicted' });
    };
    await world.workers.killPodNow(pod, { evict: true, gracePeriodSeconds: 3, podStatusFn });
    await settle(20);
    expect(world.status('web')).toMatchObject({ phase: 'Failed', reason: 'Evicted' });
    expect(world.provider.took()).toEqual(['createPod web', 'deletePod web 3']);
  });

  it('by force is deleted', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.took();
    await world.delete('web', 0);
    await world.clock.advance(5000);
    expect(world.provider.took()).toEqual(['deletePod web 1']);
    expect(world.provider.pods.size).toBe(0);
  });
});

describe('a pod that its provider does not delete', () => {
  it('is not deleted again at once when it is an orphan, but later and later, with one line a failure', async () => {
    const first = new ProviderWorld();
    const pod = await first.create('job', { spec: { restartPolicy: 'Never' } });
    first.provider.set('job', { phase: 'Succeeded' });
    await first.stop();
    first.store.remove('default', 'job');
    first.provider.took();
    await using world = await first.restart();
    let calls = 0;
    const fails = () => Promise.reject(new Error(`forbidden, request ${++calls}`));
    world.provider.next('deletePod', 'job', ...Array.from({ length: 30 }, () => fails));
    // the second within the grace period of a second, or just after it
    await world.clock.advance(9_000);
    expect(calls).toBe(2);
    await world.clock.advance(600_000);
    expect(calls).toBeGreaterThanOrEqual(5);
    expect(calls).toBeLessThanOrEqual(7);
    await world.clock.advance(3_600_000);
    expect(calls).toBeGreaterThanOrEqual(13);
    expect(calls).toBeLessThanOrEqual(20);
    expect(world.logged.filter((message) => message.includes('did not delete'))).toHaveLength(calls);
    expect(world.provider.pods.has(pod.metadata?.uid ?? '')).toBe(true);
    world.provider.interferences.clear();
    await world.clock.advance(600_000);
    expect(world.provider.pods.size).toBe(0);
  });

  it('stays on the server, and goes once it is deleted', async () => {
    await using world = new ProviderWorld();
    await world.create('job', { spec: { restartPolicy: 'Never' } });
    world.provider.set('job', { phase: 'Succeeded' });
    world.provider.next('deletePod', 'job', refuse, refuse);
    await world.delete('job', 30);
    await world.clock.advance(8000);
    expect(world.isGone('job')).toBe(false);
    expect(world.events).toEqual(['job Warning ProviderDeleteFailed: The provider did not delete the pod: no room']);
    await world.clock.advance(60_000);
    expect(world.isGone('job')).toBe(true);
    expect(world.provider.took()).toEqual(['createPod job', 'deletePod job 30', 'deletePod job 30', 'deletePod job 30']);
  });

  it('is asked at once when its grace period shrinks, and is over when the provider has nothing of it', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.took();
    world.provider.next('deletePod', 'web', refuse, refuse);
    await world.delete('web', 300);
    await world.delete('web', 3);
    expect(world.provider.took()).toEqual(['deletePod web 300', 'deletePod web 3']);
    world.provider.lose('web');
    await world.clock.advance(31_000);
    expect(world.isGone('web')).toBe(true);
    expect(world.provider.took()).toEqual([]);
  });
});
