import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type ApiObject, apiResource, resources } from '../../../src/reflector.ts';
import { ClusterScheduler, type EventResource, inTreePlugins } from '../../../src/scheduler.ts';
import { InMemoryApiServer } from '../../../src/testing.ts';

describe('a scheduler of a cluster that has no right to its Lease', () => {
  it('says so in explain, and tells what the server answered', async () => {
    await using server = await InMemoryApiServer.start();
    server.fail({ resource: 'leases.coordination.k8s.io', fault: { kind: 'status', code: 403 }, probability: 1 });
    await using scheduler = new ClusterScheduler({ kubeConfig: server.kubeConfig(), logger: null });
    expect(scheduler.leaseFailure).toBeUndefined();
    const { metadata } = server.store.create({
      metadata: { name: 'web' },
      spec: { containers: [{ name: 'app', image: 'app:1' }] },
    });
    await scheduler.start();
    while (scheduler.leaseFailure === undefined) await nextTurn();
    expect(scheduler.leaseFailure).toMatchObject({ errorClass: 'forbidden' });
    expect(scheduler.explain(metadata?.uid ?? '').text.split('\n')).toEqual([
      'The pod default/web can be tried, after the pods that come before it. It has not been tried yet.',
      expect.stringMatching(
        /^This process schedules nothing, because it is not the leader; its last try for the Lease failed: .*403/,
      ),
      'Give the user that the message names the right that it names; deploy/scheduler-rbac.yaml has all that a scheduler needs.',
    ]);
    expect(scheduler.explain('gone').text).not.toContain('leader');
  });
});

describe('two schedulers of a cluster', () => {
  it('have two identities, though their numbers come from one seed', async () => {
    await using server = await InMemoryApiServer.start();
    const identityOf = async (name: string): Promise<string | undefined> => {
      const options = { kubeConfig: server.kubeConfig(), logger: null, random: () => 0.5, leaderElection: { name } };
      await using scheduler = new ClusterScheduler(options);
      await scheduler.start();
      while (!scheduler.isLeader) await nextTurn();
      return scheduler.leader;
    };
    const [one, two] = [await identityOf('one'), await identityOf('two')];
    expect(one).toMatch(/_[-0-9a-f]{36}$/);
    expect(one).not.toBe(two);
  });
});

describe('a plugin of a scheduler of a cluster', () => {
  const ofCluster = { group: 'storage.k8s.io', version: 'v1', namespaced: false };
  const storageClasses = { ...ofCluster, resource: 'storageclasses', kind: 'StorageClass' };
  const csiNodes = { ...ofCluster, resource: 'csinodes', kind: 'CSINode' };
  const claims = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceclaims', kind: 'ResourceClaim', namespaced: true };
  const capacity = { storage: '1Gi' };
  const claimed = { accessModes: ['ReadWriteOnce'], resources: { requests: capacity } };
  const made: Partial<Record<EventResource, (server: InMemoryApiServer) => unknown>> = {
    PersistentVolumeClaim: (server) =>
      server.objects(resources.persistentVolumeClaims).create({ metadata: { name: 'c', namespace: 'default' }, spec: claimed }),
    PersistentVolume: (server) =>
      server.objects(resources.persistentVolumes).create({ metadata: { name: 'v' }, spec: { capacity } }),
    StorageClass: (server) => server.objects(apiResource(storageClasses)).create({ metadata: { name: 's' } }),
    CSINode: (server) =>
      server.objects(apiResource(csiNodes)).create({ metadata: { name: 'n' }, spec: { drivers: [] } } as ApiObject),
    ResourceClaim: (server) => server.objects(apiResource(claims)).create({ metadata: { name: 'r', namespace: 'default' } }),
  };

  it.each(Object.keys(made) as EventResource[])('hears of each %s that it has registered for', async (resource) => {
    await using server = await InMemoryApiServer.start();
    const nodes = server.objects(resources.nodes);
    const node = nodes.create({ metadata: { name: 'n' }, status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } } });
    nodes.update({ ...node, spec: {} });
    server.store.create({ metadata: { name: 'web' }, spec: { containers: [{ name: 'app', image: 'app:1' }] } });
    let isOpen = false;
    const Storage = () => ({
      name: 'Storage',
      eventsToRegister: () => [{ resource, actions: ['Add' as const] }],
      filter: () => (isOpen ? undefined : { code: 'Unschedulable' as const, reasons: ['waits'] }),
    });
    const plugins = { multiPoint: { enabled: [{ name: 'Storage' }] } };
    await using scheduler = new ClusterScheduler({
      ...{ kubeConfig: server.kubeConfig(), leaderElection: false, logger: null },
      ...{ registry: { ...inTreePlugins(), Storage }, profiles: [{ plugins }] },
    });
    await scheduler.start();
    while (scheduler.stats().failedAttempts === 0) await nextTurn();
    await scheduler.flush();
    isOpen = true;
    made[resource]?.(server);
    while (scheduler.stats().bound === 0) await nextTurn();
    expect(server.store.get('default', 'web').spec?.nodeName).toBe('n');
  });

  it('that has registered for none of them has none watched', async () => {
    await using server = await InMemoryApiServer.start();
    const disabled = ['VolumeBinding', 'VolumeRestrictions', 'VolumeZone', 'NodeVolumeLimits', 'DynamicResources'].map(
      (name) => ({ name }),
    );
    const profiles = [{ plugins: { multiPoint: { disabled } } }];
    await using scheduler = new ClusterScheduler({
      ...{ kubeConfig: server.kubeConfig(), leaderElection: false, logger: null, profiles },
    });
    await scheduler.start();
    const asked = ['persistentvolumeclaims', 'persistentvolumes', 'csinodes.storage.k8s.io', 'resourceclaims.resource.k8s.io'];
    expect(asked.map((resource) => server.countRequests(undefined, { resource }))).toEqual([0, 0, 0, 0]);
    expect(server.countRequests(undefined, { resource: 'services' })).toBeGreaterThan(0);
  });
});

describe('a scheduler that lists nothing before it leads', () => {
  it('stands by without a list, and schedules once the other one has given its Lease up', async () => {
    await using server = await InMemoryApiServer.start();
    const nodes = server.objects(resources.nodes);
    const node = nodes.create({ metadata: { name: 'n' }, status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } } });
    nodes.update({ ...node, spec: {} });
    const leaderElection = { retryPeriodMs: 1 };
    const options = { kubeConfig: server.kubeConfig(), logger: null, leaderElection, delayCacheUntilActive: true };
    await using first = new ClusterScheduler({ ...options, identity: 'first' });
    await first.start();
    while (!first.snapshot().ready) await nextTurn();
    await using second = new ClusterScheduler({ ...options, identity: 'second' });
    await second.start();
    while (second.leader !== 'first') await nextTurn();
    const { metadata } = server.store.create({
      metadata: { name: 'web' },
      spec: { containers: [{ name: 'app', image: 'app:1' }] },
    });
    expect(second.snapshot()).toMatchObject({ ready: false, hasSynced: false, notes: [] });
    expect(second.explain(metadata?.uid ?? '').state).toBe('unknown');
    await first.stop();
    while (!second.snapshot().ready) await nextTurn();
    await second.flush();
    expect(server.store.get('default', 'web').spec?.nodeName).toBe('n');
  });

  it('can be stopped while it stands by', async () => {
    await using server = await InMemoryApiServer.start();
    await using first = new ClusterScheduler({ kubeConfig: server.kubeConfig(), logger: null, identity: 'first' });
    await first.start();
    while (!first.isLeader) await nextTurn();
    const second = new ClusterScheduler({ kubeConfig: server.kubeConfig(), logger: null, delayCacheUntilActive: true });
    await second.start();
    await second.stop();
    expect([second.state, second.snapshot().hasSynced]).toEqual(['stopped', false]);
  });

  it('takes no other word for it', () => {
    const transport = { request: () => {}, stream: () => {} } as never;
    expect(() => new ClusterScheduler({ transport, delayCacheUntilActive: 'yes' as never })).toThrow('delayCacheUntilActive');
  });
});

describe('a scheduler of a cluster that has no claims of devices', () => {
  it('places pods all the same, and says what the server does not have', async () => {
    await using server = await InMemoryApiServer.start();
    const lacking = ['resourceclaims', 'resourceslices', 'deviceclasses'];
    for (const resource of lacking) {
      server.fail({ resource: `${resource}.resource.k8s.io`, fault: { kind: 'status', code: 404 }, probability: 1 });
    }
    const nodes = server.objects(resources.nodes);
    const node = nodes.create({ metadata: { name: 'n' }, status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } } });
    nodes.update({ ...node, spec: {} });
    server.store.create({ metadata: { name: 'web' }, spec: { containers: [{ name: 'app', image: 'app:1' }] } });
    const events = lacking.map((resource) =>
      apiResource({ group: 'resource.k8s.io', version: 'v1', resource, kind: 'X', namespaced: false }),
    );
    const Devices = () => ({
      name: 'Devices',
      eventsToRegister: () => events.map((resource) => ({ resource, actions: ['Add' as const] })),
    });
    await using scheduler = new ClusterScheduler({
      ...{ kubeConfig: server.kubeConfig(), leaderElection: false, logger: null },
      ...{
        registry: { ...inTreePlugins(), Devices },
        profiles: [{ plugins: { multiPoint: { enabled: [{ name: 'Devices' }] } } }],
      },
    });
    await scheduler.start();
    while (scheduler.stats().bound === 0) await nextTurn();
    expect(server.store.get('default', 'web').spec?.nodeName).toBe('n');
    expect(scheduler.snapshot()).toMatchObject({ ready: true, hasSynced: true });
    const [note, ...others] = scheduler.snapshot().notes;
    expect(others).toEqual([]);
    expect(note).toMatch(/^the server does not have .* of this version: 404/s);
  });
});
