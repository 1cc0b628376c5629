import { mkdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { ContainerConfig } from '../../../../src/kubelet/runtime/runtime-containers.ts';
import type { NodeAgent, NodeAgentOptions, NodePlugins, PodResourcesLister } from '../../../../src/kubelet.ts';
import { noDevicePlugins } from '../../../support/plugins/no-device-plugins.ts';
import { claimOf, driverName, TestDriver } from '../dra/dra-world.ts';
import { NodeWorld } from './node-world.ts';

const claimsPath = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims';
const slicesPath = '/apis/resource.k8s.io/v1/resourceslices';

/** A node with a driver, whose plugin is an object, and whose registration socket is one of the machine. */
async function setUp() {
  const world = await NodeWorld.make();
  onTestFinished(() => world[Symbol.asyncDispose]());
  const driver = new TestDriver();
  const onConnection = new Set<(isConnected: boolean) => void>();
  const health = { devices: Promise.withResolvers<object[]>() };
  const podResources: { lister?: PodResourcesLister } = {};
  const plugins: NodePlugins = {
    ...noDevicePlugins,
    servePodResources: async (_, lister) => {
      podResources.lister = lister;
      return { close: async () => {} };
    },
    registration: () => ({
      getInfo: async () => ({
        type: 'DRAPlugin',
        name: driverName,
        endpoint: '/run/dra.sock',
        supportedVersions: ['v1.DRAPlugin'],
      }),
      notify: async () => {},
      close: () => {},
    }),
    csiNode: () => {
      throw new Error('there is no storage driver');
    },
    draDriver: () => ({
      prepare: (claims) => driver.prepare(claims),
      unprepare: (claims) => driver.unprepare(claims),
      async *watchHealth(signal) {
        const ended = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
        for (;;) {
          const devices = await Promise.race([health.devices.promise, ended]);
          if (devices === undefined) return;
          health.devices = Promise.withResolvers();
          yield devices as never;
        }
      },
      watchConnection: (told) => {
        onConnection.add(told);
        told(true);
      },
      close: () => {},
    }),
  };
  const { rootDirectory } = world.agentOptions();
  const socketPath = join(rootDirectory as string, 'plugins_registry', 'gpu-reg.sock');
  const configs: ContainerConfig[] = [];
  const { createContainer } = world.runtime;
  world.runtime.createContainer = (...args) => {
    configs.push(args[1]);
    return createContainer.apply(world.runtime, args);
  };
  const options: Partial<NodeAgentOptions> = { plugins };
  const listen = async () => {
    await mkdir(dirname(socketPath), { recursive: true });
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    server.unref();
    onTestFinished(() => void server.close());
  };
  const started = async (): Promise<NodeAgent> => {
    const agent = world.agent(options);
    await world.through(agent.start());
    return agent;
  };
  /** A claim that is allocated, and reserved for pods that are there. */
  const createClaim = (name: string, pods: readonly string[]) => {
    const { status, ...claim } = claimOf(
      name,
      pods.map((pod) => world.pod(pod)?.metadata?.uid ?? ''),
    );
    const { store } = world.objects.target(claimsPath);
    const key = { namespace: 'default', name };
    store.create({ ...claim, metadata: key } as object);
    const made = store.patch(key, { type: 'merge', body: { status }, subresource: 'status' } as never);
    return made.metadata?.uid ?? '';
  };
  const createPod = (name: string, claim: string) =>
    world.create(name, {
      resourceClaims: [{ name: 'gpu', resourceClaimName: claim }],
      containers: [{ name: 'app', image: 'app:1', resources: { claims: [{ name: 'gpu' }] } }],
    });
  const uids = new Map<string, string>();
  const uidOf = (name: string): string => {
    const uid = world.pod(name)?.metadata?.uid ?? uids.get(name) ?? '';
    uids.set(name, uid);
    return uid;
  };
  const events = () =>
    (world.objects.target('/api/v1/events').store.list() as { reason?: string; message?: string }[])
      .filter(({ reason }) => reason?.includes('Dynamic'))
      .map(({ reason, message }) => `${reason} ${message}`);
  const listedPods = () => podResources.lister?.list();
  return {
    listedPods,
    world,
    driver,
    listen,
    socketPath,
    started,
    createClaim,
    createPod,
    configs,
    events,
    onConnection,
    health,
    uidOf,
  };
}

it('a pod waits for its claim, says why, gets its devices, and is over only once they are given back', async () => {
  const { world, driver, listen, started, createClaim, createPod, configs, events, uidOf, listedPods } = await setUp();
  const agent = await started();
  createPod('web', 'a');
  createClaim('a', ['web']);
  await world.pass(2000);
  const words = 'prepare dynamic resources: DRA driver gpu.example.com is not registered';
  expect(events()[0]).toBe(`FailedPrepareDynamicResources Failed to prepare dynamic resources: ${words}`);
  expect(agent.explain(uidOf('web')).problem).toMatchObject({
    kind: 'resource-claims',
    message: `the resource claims of the pod could not be made ready: ${words}`,
  });
  expect(world.pod('web')?.status?.phase).toBe('Pending');
  const shown = (claims: object[]) => [{ namespace: 'default', name: 'web', containers: [{ name: 'app', devices: [], claims }] }];
  expect(listedPods()).toEqual(shown([]));
  await listen();
  await world.pass(10_000);
  expect(world.pod('web')?.status?.phase).toBe('Running');
  expect(configs.map(({ cdiDevices }) => cdiDevices)).toEqual([['gpu.example.com/device=a']]);
  expect(agent.explain(uidOf('web')).problem).toBeUndefined();
  const names = { driverName, poolName: 'node-1', deviceName: 'a-device', cdiDeviceIDs: ['gpu.example.com/device=a'] };
  expect(listedPods()).toEqual(shown([{ namespace: 'default', name: 'a', devices: [names] }]));

  driver.onUnprepare = async () => new Map();
  world.delete('web', 1);
  await world.pass(5000);
  expect(agent.explain(uidOf('web')).problem?.message).toContain('could not be given back');
  expect(world.pod('web')).toBeDefined();
  driver.onUnprepare = undefined;
  await world.pass(60_000);
  expect([world.pod('web'), driver.ready.size]).toEqual([undefined, 0]);
  await world.through(agent.stop());
  expect(world.timersLeft).toBe(0);
});

it('a pod that is here before its claim was made starts once its status names it', async () => {
  const { world, driver, listen, started, createClaim, events } = await setUp();
  await listen();
  const agent = await started();
  world.create('web', { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one' }] });
  await world.pass(3000);
  expect(events().at(-1)).toContain('pod "default/web": ResourceClaim not created yet');
  createClaim('web-gpu', ['web']);
  const claims = world.objects.target(claimsPath).store;
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: world.pod('web')?.metadata?.uid, controller: true };
  const metadata = { ownerReferences: [owner] };
  claims.patch({ namespace: 'default', name: 'web-gpu' }, { type: 'merge', body: { metadata } } as never);
  const status = { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'web-gpu' }] };
  const { store } = world.objects.target('/api/v1/pods');
  store.patch({ namespace: 'default', name: 'web' }, { type: 'merge', body: { status }, subresource: 'status' } as never);
  await world.pass(60_000);
  expect([world.pod('web')?.status?.phase, driver.calls]).toEqual(['Running', ['prepare web-gpu']]);
  expect(world.pod('web')?.status?.resourceClaimStatuses).toEqual(status.resourceClaimStatuses);
  await world.through(agent.stop());
});

it('an agent that was killed while a driver was asked leaves nothing ready for ever, whatever became of the pod', async () => {
  const { world, driver, listen, started, createClaim, createPod } = await setUp();
  await listen();
  const first = await started();
  await world.pass(2000);
  createPod('web', 'a');
  const uid = createClaim('a', ['web']);
  driver.onPrepare = () => {
    driver.ready.add(uid);
    return new Promise(() => {});
  };
  await world.pass(2000);
  expect(driver.calls).toEqual(['prepare a']);
  // the driver has done it, and nobody has heard of it
  await world.through(first.stop({ timeoutMs: 0, callsTimeoutMs: 0, drainTimeoutMs: 0 }));
  world.delete('web', 0);
  driver.onPrepare = undefined;
  const second = await started();
  await world.pass(130_000);
  expect(driver.calls).toEqual(['prepare a', 'unprepare a']);
  expect(driver.ready.size).toBe(0);
  await world.through(second.stop());
});

it('a pod that runs keeps its devices over a restart of the agent, without its driver, and when it was deleted by force', async () => {
  const { world, driver, listen, socketPath, started, createClaim, createPod } = await setUp();
  await listen();
  const first = await started();
  await world.pass(2000);
  createPod('web', 'a');
  createPod('second', 'a');
  createClaim('a', ['web', 'second']);
  await world.pass(5000);
  expect(driver.calls).toEqual(['prepare a']);
  await world.through(first.stop());
  await rm(socketPath);
  world.delete('web', 0);
  const second = await started();
  await world.pass(130_000);
  expect(world.pod('second')?.status?.phase).toBe('Running');
  expect(driver.calls).toEqual(['prepare a']);
  await listen();
  world.delete('second', 1);
  await world.pass(60_000);
  expect(driver.calls).toEqual(['prepare a', 'unprepare a']);
  expect(world.pod('second')).toBeUndefined();
  await world.through(second.stop());
});

it('nothing is given back of a pod that runs, although nobody knows it any more', async () => {
  const { world, driver, listen, started, createClaim, createPod } = await setUp();
  await listen();
  const first = await started();
  await world.pass(2000);
  createPod('web', 'a');
  createClaim('a', ['web']);
  await world.pass(5000);
  await world.through(first.stop());
  world.delete('web', 0);
  for (const call of ['StopContainer', 'StopPodSandbox'] as const)
    world.runtime.fail({ call, times: 1000, fault: { kind: 'error', error: 'failed', message: 'busy' } });
  const second = await started();
  await world.pass(200_000);
  const running = (await world.runtime.listContainers()).filter(({ state }) => state === 'running');
  expect([running.length, driver.calls]).toEqual([1, ['prepare a']]);
  world.runtime.heal();
  await world.pass(400_000);
  expect(driver.calls).toEqual(['prepare a', 'unprepare a']);
  await world.through(second.stop());
});

it('a pod that others have called failed stays on the apiserver while a driver may hold something for it', async () => {
  const { world, driver, listen, started, createClaim, createPod } = await setUp();
  await listen();
  const first = await started();
  await world.pass(2000);
  createPod('web', 'a');
  createClaim('a', ['web']);
  await world.pass(5000);
  driver.onUnprepare = async () => new Map([['', 'busy']]);
  await world.through(first.stop());
  for (const { id } of await world.runtime.listPodSandboxes()) world.runtime.killSandbox(id);
  const { store } = world.objects.target('/api/v1/pods');
  const failed = { type: 'merge', body: { status: { phase: 'Failed' } }, subresource: 'status' };
  // a pod that is over already would be gone at once
  world.delete('web', 30);
  store.patch({ namespace: 'default', name: 'web' }, failed as never);
  const second = await started();
  await world.pass(130_000);
  expect([world.pod('web')?.status?.phase, driver.ready.size]).toEqual(['Failed', 1]);
  driver.onUnprepare = undefined;
  await world.pass(130_000);
  expect([world.pod('web'), driver.ready.size]).toEqual([undefined, 0]);
  await world.through(second.stop());
});

it('what drivers have told of the node goes with the start, and 30 s after the last one has ceased to answer', async () => {
  const { world, listen, started, onConnection } = await setUp();
  const slice = (name: string, driver: string, nodeName: string) =>
    world.objects
      .target(slicesPath)
      .store.create({ metadata: { name }, spec: { driver, nodeName, pool: { name: nodeName } } } as object);
  const slices = () =>
    world.objects
      .target(slicesPath)
      .store.list()
      .map(({ metadata }) => metadata?.name);
  slice('old', driverName, 'node-1');
  slice('other', driverName, 'node-2');
  await listen();
  const agent = await started();
  await world.pass(2000);
  expect(slices()).toEqual(['other']);
  slice('new', driverName, 'node-1');
  slice('of-another', 'net.example.com', 'node-1');
  const [tell] = onConnection;
  tell?.(false);
  await world.pass(20_000);
  tell?.(true);
  await world.pass(60_000);
  expect(slices().sort()).toEqual(['new', 'of-another', 'other']);
  tell?.(false);
  await world.pass(31_000);
  expect(slices().sort()).toEqual(['of-another', 'other']);
  await world.through(agent.stop());
});

it('the status of a pod says how the devices of its claims are', async () => {
  const { world, listen, started, createClaim, createPod, health } = await setUp();
  await listen();
  const agent = await started();
  await world.pass(2000);
  createPod('web', 'a');
  createClaim('a', ['web']);
  await world.pass(5000);
  const statusOf = () => world.pod('web')?.status?.containerStatuses?.[0]?.allocatedResourcesStatus;
  const resourceID = 'gpu.example.com/device=a';
  expect(statusOf()).toEqual([{ name: 'claim:gpu', resources: [{ resourceID, health: 'Unknown' }] }]);
  const device = { poolName: 'node-1', deviceName: 'a-device', timeoutSeconds: 600 };
  health.devices.resolve([{ ...device, health: 'Unhealthy', message: 'too hot' }]);
  await world.pass(3000);
  expect(statusOf()).toEqual([{ name: 'claim:gpu', resources: [{ resourceID, health: 'Unhealthy', message: 'too hot' }] }]);
  await world.through(agent.stop());
});
