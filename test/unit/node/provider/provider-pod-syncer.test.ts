import { describe, expect, it } from 'vitest';
import { buildStaticPod } from '../../../../src/testing/fakes/builders.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { never, ProviderWorld, refuse } from './provider-world.ts';

describe('a static pod', () => {
  it('that goes and comes again under its uid runs again', async () => {
    await using world = new ProviderWorld();
    const send = world.config.channel('file');
    const pod = buildStaticPod({ metadata: { name: 'proxy', uid: 'static' }, spec: { terminationGracePeriodSeconds: 30 } });
    send([pod]);
    await settle(20);
    expect(world.statusManager.getPodStatus('static')?.phase).toBe('Running');
    world.provider.endsAfterMs = 3000;
    send([]);
    await settle(20);
    send([{ ...pod }]);
    await world.clock.advance(10_000);
    expect(world.provider.took()).toEqual(['createPod proxy', 'deletePod proxy 30', 'createPod proxy']);
    expect(world.statusManager.getPodStatus('static')?.phase).toBe('Running');
  });
});

describe('an orphan', () => {
  it('of an earlier run is deleted, once', async () => {
    const first = new ProviderWorld();
    await first.create('web');
    await first.stop();
    first.store.remove('default', 'web');
    first.provider.took();
    const world = await first.restart();
    // the provider goes on listing it
    world.provider.end = () => ({ phase: 'Failed' });
    await world.clock.advance(5000);
    const asked = world.provider.questions.get('web');
    await world.clock.advance(15_000);
    expect(world.provider.took()).toEqual(['deletePod web 1']);
    expect(world.provider.questions.get('web')).toBe(asked);
    await world.stop();
  });
});

describe('a pod that the provider lists', () => {
  it('of another namespace is left alone', async () => {
    await using world = new ProviderWorld({ namespace: 'mine' });
    const list = ['mine', 'other'].map((namespace) => ({ metadata: { name: namespace, namespace, uid: namespace } }));
    for (const pod of list) world.provider.pods.set(pod.metadata.uid, { pod, status: { phase: 'Running' } });
    await world.clock.advance(10_000);
    expect(world.provider.took()).toEqual(['deletePod mine 1']);
  });

  it('of another node is left alone, and said once', async () => {
    await using world = new ProviderWorld({ nodeName: 'node-1' });
    for (const nodeName of ['node-1', 'node-2', 'node-3', undefined]) {
      const name = nodeName ?? 'silent';
      const pod = {
        metadata: { name, namespace: 'default', uid: name },
        spec: { ...(nodeName && { nodeName }), containers: [] },
      };
      world.provider.pods.set(name, { pod, status: { phase: 'Running' } });
    }
    await world.clock.advance(70_000);
    expect(world.provider.took().toSorted()).toEqual(['deletePod node-1 1', 'deletePod silent 1']);
    expect(world.logged.filter((message) => message.includes('other nodes'))).toHaveLength(1);
  });

  it('without a uid, or in an answer that is no list, is passed over', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.took();
    world.provider.next(
      'getPods',
      '',
      () => 'none',
      refuse,
      () => [null, 7, {}, { metadata: { uid: 'x' } }],
      never,
    );
    await world.clock.advance(60_000);
    expect(world.provider.took()).toEqual([]);
    expect(world.condition('web', 'Ready')).toBe('True');
  });
});

describe('the syncer', () => {
  it('refuses what is no provider', () => {
    const provider = { createPod() {}, updatePod() {}, deletePod() {} };
    expect(() => new ProviderWorld({ provider: provider as never })).toThrow('getPodStatus');
    expect(() => new ProviderWorld({ pollIntervalMs: 0 })).toThrow('pollIntervalMs');
    expect(() => new ProviderWorld({ nodeName: '' })).toThrow('nodeName');
    expect(() => new ProviderWorld({ namespace: '' })).toThrow('namespace');
    expect(() => new ProviderWorld({ typo: 1 } as never)).toThrow('typo');
  });

  it('aborts every call at its stop, leaves no timer, and tells nothing more', async () => {
    const world = new ProviderWorld();
    const creation = Promise.withResolvers<void>();
    const signals: AbortSignal[] = [];
    world.provider.next('createPod', 'slow', (act, { signal }) => {
      signals.push(signal);
      return creation.promise.then(act);
    });
    world.provider.next('getPodStatus', 'silent', (_, { signal }) => {
      signals.push(signal);
      return never();
    });
    await world.create('slow');
    await world.create('silent');
    await world.create('web');
    const status = world.status('slow');
    await world.stop();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(world.clock.pendingTimers).toBe(0);
    creation.resolve();
    await settle(20);
    await world.clock.advance(60_000);
    expect(world.status('slow')).toEqual(status);
  });

  it('keeps nothing of pods that are gone', async () => {
    await using world = new ProviderWorld();
    const pod = await world.create('web');
    await world.delete('web', 1);
    await world.clock.advance(10_000);
    expect(world.isGone('web')).toBe(true);
    expect(world.syncer.pods.find(pod.metadata?.uid ?? '')).toBeUndefined();
  });
});
