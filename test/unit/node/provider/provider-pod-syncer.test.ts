import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import type { DeletePodCall } from '../../../../src/node/provider/pod-provider.ts';
import { buildStaticPod } from '../../../../src/testing/fakes/builders.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { never, ProviderWorld } from './provider-world.ts';

const refuse = () => Promise.reject(new Error('no room'));

describe('a new pod', () => {
  it('is created once, and its status is complete after one patch', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    expect(world.provider.took()).toEqual(['createPod web']);
    expect(world.patches).toBe(1);
    const { conditions, containerStatuses, ...status } = world.status('web');
    expect(status).toMatchObject({
      phase: 'Running',
      hostIP: '192.0.2.1',
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      qosClass: 'BestEffort',
      startTime: '2000-01-01T00:00:00Z',
    });
    expect(conditions?.map(({ type, status: is }) => `${type} ${is}`).sort()).toEqual([
      'ContainersReady True',
      'Initialized True',
      'PodReadyToStartContainers True',
      'PodScheduled True',
      'Ready True',
    ]);
    expect(containerStatuses).toMatchObject([{ name: 'app', ready: true, restartCount: 0, state: { running: {} } }]);
    await world.clock.advance(120_000);
    expect([world.provider.took(), world.patches]).toEqual([[], 1]);
  });

  it('that the provider has already is taken over', async () => {
    const first = new ProviderWorld();
    await first.create('web');
    first.provider.took();
    await using world = await first.restart();
    await world.clock.advance(60_000);
    expect(world.provider.took()).toEqual([]);
    expect(world.condition('web', 'Ready')).toBe('True');
    world.store.patch('default', 'web', { type: 'application/merge-patch+json', body: { metadata: { labels: { a: 'b' } } } });
    await settle(20);
    expect(world.provider.took()).toEqual(['updatePod web']);
  });

  it('has the QoS class that its resources come to, and is ready only when its provider says so, too', async () => {
    await using world = new ProviderWorld();
    const send = world.config.channel('file');
    const running = { name: 'app', image: '', imageID: '', ready: true, restartCount: 0, state: { running: {} } };
    const conditions = [{ type: 'Ready', status: 'False', reason: 'NotYet' }];
    world.provider.begin = () => ({ phase: 'Running', containerStatuses: [running], conditions });
    const resources = { requests: { cpu: '1' } };
    send([
      buildStaticPod({
        metadata: { name: 'proxy', uid: 'static' },
        spec: { containers: [{ name: 'app', image: 'a', resources }] },
      }),
    ]);
    await settle(20);
    const status = world.statusManager.getPodStatus('static');
    expect([status?.qosClass, status?.phase]).toEqual(['Burstable', 'Running']);
    expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'False', reason: 'NotYet' });
  });

  it('that takes long is said to be created meanwhile, and what its provider says of it', async () => {
    await using world = new ProviderWorld();
    const creation = Promise.withResolvers<void>();
    world.provider.next('createPod', 'web', () => creation.promise);
    await world.create('web');
    expect(world.patches).toBe(0);
    await world.clock.advance(1000);
    expect(world.status('web')).toMatchObject({
      phase: 'Pending',
      containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }],
    });
    const pod = world.store.get('default', 'web');
    world.provider.pods.set(pod.metadata?.uid ?? '', { pod, status: { phase: 'Pending', message: 'pulling' } });
    await world.clock.advance(1000);
    expect(world.status('web').message).toBe('pulling');
    world.provider.set('web', { phase: 'Running' });
    creation.resolve();
    await settle(20);
    expect(world.condition('web', 'Ready')).toBe('True');
    expect(world.provider.took()).toEqual(['createPod web']);
  });

  it('that the provider refuses waits with the reason, and is created again, later and later', async () => {
    await using world = new ProviderWorld();
    world.provider.next('createPod', 'web', refuse, refuse, refuse);
    await world.create('web');
    const text = 'The provider did not create the pod: no room';
    expect(world.status('web')).toMatchObject({
      phase: 'Pending',
      reason: 'ProviderFailed',
      message: text,
      containerStatuses: [{ state: { waiting: { reason: 'ProviderCreateFailed', message: text } } }],
    });
    expect(world.events).toEqual([`web Warning ProviderCreateFailed: ${text}`]);
    expect(world.provider.took()).toEqual(['createPod web']);
    await world.clock.advance(9_000);
    expect(world.provider.took()).toEqual([]);
    await world.clock.advance(2000);
    expect(world.provider.took()).toEqual(['createPod web']);
    await world.clock.advance(18_000);
    expect(world.provider.took()).toEqual([]);
    await world.clock.advance(2000);
    expect(world.provider.took()).toEqual(['createPod web']);
    await world.clock.advance(42_000);
    expect(world.provider.took()).toEqual(['createPod web']);
    expect(world.status('web')).toMatchObject({ phase: 'Running' });
    expect([world.status('web').reason, world.status('web').message]).toEqual([undefined, undefined]);
  });

  it('that is refused again and again is not created faster when its provider tells of it each time', async () => {
    await using world = new ProviderWorld();
    world.provider.next(
      'createPod',
      'web',
      ...Array.from({ length: 100 }, () => () => {
        world.syncer.notice(world.store.get('default', 'web').metadata?.uid ?? '');
        return refuse();
      }),
    );
    await world.create('web');
    for (let i = 0; i < 50; i++) {
      world.syncer.notice(world.store.get('default', 'web').metadata?.uid ?? '');
      await world.clock.advance(100);
    }
    expect(world.provider.took()).toEqual(['createPod web']);
  });

  it('that was refused is created at once when it has changed', async () => {
    await using world = new ProviderWorld();
    world.provider.next('createPod', 'web', refuse);
    await world.create('web');
    world.provider.took();
    const body = { metadata: { labels: { a: 'b' } } };
    world.store.patch('default', 'web', { type: 'application/merge-patch+json', body });
    await settle(20);
    expect(world.provider.took()).toEqual(['createPod web']);
    expect(world.condition('web', 'Ready')).toBe('True');
  });

  it('waits for its readiness gates', async () => {
    await using world = new ProviderWorld();
    await world.create('gated', { spec: { readinessGates: [{ conditionType: 'example.com/gate' }] } });
    expect([world.condition('gated', 'ContainersReady'), world.condition('gated', 'Ready')]).toEqual(['True', 'False']);
    const body = { status: { conditions: [{ type: 'example.com/gate', status: 'True' }] } };
    world.store.patch('default', 'gated', { type: 'application/strategic-merge-patch+json', body, subresource: 'status' });
    await settle(20);
    expect(world.condition('gated', 'Ready')).toBe('True');
  });
});

describe('a running pod', () => {
  it('is asked about at an interval, and at once when its provider tells of it', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.set('web', { phase: 'Running', message: 'one' });
    await world.clock.advance(9_999);
    expect(world.status('web').message).toBeUndefined();
    await world.clock.advance(1);
    expect(world.status('web').message).toBe('one');
    world.provider.set('web', { phase: 'Running', message: 'two' });
    world.syncer.notice(world.store.get('default', 'web').metadata?.uid ?? '');
    await settle(20);
    expect(world.status('web').message).toBe('two');
  });

  it('is updated when its labels, annotations or spec change, and not for its status', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.took();
    const type = 'application/merge-patch+json';
    world.store.patch('default', 'web', { type, body: { metadata: { labels: { a: 'b' } } } });
    await settle(20);
    expect(world.provider.took()).toEqual(['updatePod web']);
    world.provider.next('updatePod', 'web', refuse);
    world.store.patch('default', 'web', { type, body: { metadata: { annotations: { a: 'b' } } } });
    await settle(20);
    expect(world.provider.took()).toEqual(['updatePod web']);
    expect(world.condition('web', 'Ready')).toBe('True');
    await world.clock.advance(9000);
    expect(world.provider.took()).toEqual([]);
    world.provider.next('updatePod', 'web', refuse, refuse, refuse);
    await world.clock.advance(71_000);
    expect(world.provider.took()).toEqual(['updatePod web', 'updatePod web', 'updatePod web']);
    world.provider.set('web', { phase: 'Running', message: 'alive' });
    await world.clock.advance(10_000);
    expect(world.status('web').message).toBe('alive');
    await world.clock.advance(80_000);
    expect(world.provider.took()).toEqual(['updatePod web']);
    await world.clock.advance(600_000);
    expect(world.provider.took()).toEqual([]);
    expect(world.events).toEqual(['web Warning ProviderUpdateFailed: The provider did not update the pod: no room']);
  });

  it('is updated after a restart when it changed meanwhile', async () => {
    const first = new ProviderWorld();
    await first.create('web');
    await first.stop();
    first.store.patch('default', 'web', { type: 'application/merge-patch+json', body: { metadata: { labels: { a: 'b' } } } });
    first.provider.took();
    const world = await first.restart();
    await world.syncer.pods.list(new AbortController().signal);
    await settle(20);
    expect(world.provider.took()).toEqual(['updatePod web']);
    await world.stop();
  });

  it('keeps its status while its provider does not answer, throws, or answers with something else', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    await world.create('other');
    const before = world.status('web');
    const answers = [
      never,
      refuse,
      () => 'Running',
      () => ({ phase: 'Bogus' }),
      () => ({ phase: 'Unknown' }),
      () => [],
      () => ({ containerStatuses: 7 }),
    ];
    world.provider.next('getPodStatus', 'web', ...answers.map((answer) => () => answer()));
    world.provider.set('other', { phase: 'Running', message: 'alive' });
    await world.clock.advance(10_000);
    expect(world.status('other').message).toBe('alive');
    await world.clock.advance(100_000);
    expect(world.status('web')).toEqual(before);
    expect(world.provider.interferences.get('getPodStatus web')).toEqual([]);
    world.provider.set('web', { phase: 'Running', message: 'back' });
    await world.clock.advance(10_000);
    expect(world.status('web').message).toBe('back');
    expect(world.events.filter((event) => event.includes('ProviderStatusFailed'))).toHaveLength(answers.length);
  });

  it('ends with the phase that its provider gives', async () => {
    await using world = new ProviderWorld();
    await world.create('job', { spec: { restartPolicy: 'Never' } });
    world.provider.set('job', { phase: 'Succeeded' });
    await world.clock.advance(10_000);
    expect(world.status('job')).toMatchObject({
      phase: 'Succeeded',
      containerStatuses: [{ state: { terminated: { exitCode: 0 } } }],
    });
    expect(world.condition('job', 'Ready')).toBe('False');
    expect(world.provider.took()).toEqual(['createPod job']);
    await world.delete('job');
    await world.clock.advance(5000);
    expect(world.isGone('job')).toBe(true);
    expect(world.provider.took()).toEqual(['deletePod job 1']);
  });

  it('that a finished provider still says to run is not terminal', async () => {
    await using world = new ProviderWorld();
    await world.create('job', { spec: { restartPolicy: 'Never' } });
    world.provider.endsAfterMs = 5000;
    const running = { name: 'app', image: '', imageID: '', ready: true, restartCount: 0, state: { running: {} } };
    world.provider.set('job', { phase: 'Failed', containerStatuses: [running] });
    await world.clock.advance(10_000);
    expect(world.status('job').phase).toBe('Running');
    expect(world.provider.took()).toEqual(['createPod job', 'deletePod job 30']);
    await world.clock.advance(6000);
    expect(world.status('job').phase).toBe('Failed');
  });
});

describe('a pod that its provider has lost', () => {
  it('is created again, with its restart counted, when it may start again', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.took();
    world.provider.lose('web');
    await world.clock.advance(15_000);
    expect(world.provider.took()).toEqual([]);
    expect(world.condition('web', 'Ready')).toBe('True');
    await world.clock.advance(6000);
    expect(world.provider.took()).toEqual(['createPod web']);
    expect(world.status('web')).toMatchObject({ phase: 'Running', containerStatuses: [{ restartCount: 1, ready: true }] });
    expect(world.events).toEqual([expect.stringContaining('ProviderPodLost')]);
  });

  it('has failed when it may not', async () => {
    await using world = new ProviderWorld();
    await world.create('job', { spec: { restartPolicy: 'Never' } });
    world.provider.took();
    world.provider.lose('job');
    await world.clock.advance(25_000);
    expect(world.provider.took()).toEqual([]);
    expect(world.status('job')).toMatchObject({
      phase: 'Failed',
      reason: 'NotFound',
      containerStatuses: [{ state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } } }],
    });
  });

  it('while the agent was away is not run twice', async () => {
    const first = new ProviderWorld();
    await first.create('job', { spec: { restartPolicy: 'Never' } });
    first.provider.took();
    first.provider.lose('job');
    await using world = await first.restart();
    await world.clock.advance(30_000);
    expect(world.provider.took()).toEqual([]);
    expect(world.status('job').phase).toBe('Failed');
  });

  it('while the agent was away is created again at once where its list says so too, and only then', async () => {
    const first = new ProviderWorld();
    for (const name of ['gone', 'there']) await first.create(name);
    first.provider.lose('gone');
    first.provider.took();
    first.provider.next('getPodStatus', 'there', ...Array.from({ length: 5 }, () => () => undefined));
    await using world = await first.restart({}, true);
    await settle(100);
    expect(world.provider.took()).toEqual(['createPod gone']);
    expect(world.status('gone').containerStatuses).toMatchObject([{ restartCount: 1, state: { running: {} } }]);
    // one that it has just begun, and does not show yet, has its moment
    world.provider.next('getPodStatus', 'new', ...Array.from({ length: 5 }, () => () => undefined));
    await world.create('new');
    await world.clock.advance(9000);
    expect(world.provider.took()).toEqual(['createPod new']);
    expect(['there', 'new'].map((name) => world.condition(name, 'Ready'))).toEqual(['True', 'True']);
  });

  it('while the agent was away is waited for where the list could not be read', async () => {
    const first = new ProviderWorld();
    await first.create('web');
    first.provider.lose('web');
    first.provider.took();
    first.provider.next('getPods', '', refuse);
    await using world = await first.restart({}, true);
    await world.clock.advance(9000);
    expect(world.provider.took()).toEqual([]);
    await world.clock.advance(2000);
    expect(world.provider.took()).toEqual(['createPod web']);
  });

  it('for a moment only is as it was', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.took();
    world.provider.next('getPodStatus', 'web', ...Array.from({ length: 9 }, () => () => undefined));
    const before = world.status('web');
    await world.clock.advance(60_000);
    expect([world.provider.took(), world.status('web')]).toEqual([[], before]);
  });
});

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

/** Makes the provider one that keeps its pods by name. */
const byName = ({ provider }: ProviderWorld): void => {
  const names = new Map<string | undefined, string>();
  Object.assign(provider, {
    createPod: ({ metadata }: Pod) => {
      provider.calls.push(`createPod ${metadata?.uid}`);
      names.set(metadata?.name, 'Running');
    },
    deletePod: ({ metadata }: Pod, call: DeletePodCall) => {
      provider.calls.push(`deletePod ${metadata?.uid}`);
      const interference = provider.interferences.get('deletePod *')?.shift();
      const act = (): unknown => names.delete(metadata?.name);
      return interference === undefined ? act() : interference(act, call);
    },
    getPodStatus: ({ metadata }: Pod) => (names.has(metadata?.name) ? { phase: names.get(metadata?.name) } : undefined),
    set: (name: string, { phase = '' }: { phase?: string }) => names.set(name, phase),
    getPods: undefined,
  });
};

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

describe('a pod that its provider does not delete', () => {
  it('is not deleted again at once when it is an orphan, but later and later, with one warning', async () => {
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
    expect(world.logged.filter((message) => message.includes('did not delete'))).toHaveLength(1);
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
