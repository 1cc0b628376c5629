import { describe, expect, it } from 'vitest';
import { buildStaticPod } from '../../../../src/testing/fakes/builders.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { ProviderWorld, refuse } from './provider-world.ts';

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
