import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { safeClock } from '../../../../src/base/clock.ts';
import { noMetrics } from '../../../../src/base/metrics/metrics.ts';
import type { Pod } from '../../../../src/index.ts';
import { PodResourcesService, type PodResourcesServiceOptions } from '../../../../src/kubelet/devices/pod-resources-service.ts';
import { GrpcPlugins } from '../../../../src/plugins.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { ResourcesClient } from '../../../support/plugins/resources-client.ts';
import { DeviceWorld, podWith, resource, wordsOf } from './device-world.ts';

const clientOf = (root: string): ResourcesClient => new ResourcesClient(join(root, 'pod-resources', 'kubelet.sock'));

/** The pods that are not over come first. */
async function served(
  pods: readonly Pod[],
  isOver: (pod: Pod) => boolean = () => false,
  claimsOf: PodResourcesServiceOptions['claimsOf'] = () => [],
) {
  const world = await DeviceWorld.make();
  const manager = await world.start();
  const devices = [
    { ID: 'near', health: 'Healthy', topology: { nodes: [{ ID: 0n }, { ID: 1n }] } },
    { ID: 'plain', health: 'Healthy' },
    { ID: 'ill', health: 'Unhealthy' },
  ];
  await world.plugin(manager, {}, { devices });
  for (const pod of pods) expect(wordsOf(await world.admit(manager, pod))).toBe('given');
  const clock = new FakeClock();
  const warnings: string[] = [];
  const warn = (fields: object, message: string): void => void warnings.push(`${message} ${JSON.stringify(fields)}`);
  const service = new PodResourcesService({
    rootDirectory: world.root,
    connector: new GrpcPlugins({ clock }),
    devices: manager,
    activePods: () => pods.filter((pod) => !isOver(pod)),
    allPods: () => pods,
    podByName: (namespace, name) => pods.find((each) => each.metadata?.name === name && each.metadata?.namespace === namespace),
    ...{ claimsOf, clock: safeClock(clock), metrics: noMetrics },
    logger: { debug: () => {}, info: () => {}, warn, error: () => {} },
  });
  // a file that an earlier agent has left is in nobody's way
  await mkdir(join(world.root, 'pod-resources'));
  await writeFile(join(world.root, 'pod-resources', 'kubelet.sock'), '');
  return { world, service, clock, warnings };
}

it('tells what containers have, what could be given, and of which pods', async () => {
  const pods = [podWith('a', { initr: 1, app: 1 }), podWith('over', {})];
  const { world, service } = await served(pods, ({ metadata }) => metadata?.uid === 'over');
  await using _ = world;
  await service.start();
  using client = clientOf(world.root);
  const { namespace } = pods[0]?.metadata ?? {};
  const near = [0n, 1n].map((ID) => ({ resourceName: resource, deviceIds: ['near'], topology: { nodes: [{ ID }] } }));
  const plain = { resourceName: resource, deviceIds: ['plain'] };
  const containers = [
    { name: 'initr', devices: near, cpuIds: [], memory: [], dynamicResources: [] },
    { name: 'app', devices: [plain], cpuIds: [], memory: [] },
  ];
  const whole = { name: 'a', namespace, containers };
  const { podResources } = await client.call('list');
  expect(podResources).toMatchObject([whole]);
  expect(podResources[0].containers[1].devices[0].topology).toBeUndefined();
  expect((await client.call('get', { podName: 'a', podNamespace: namespace })).podResources).toMatchObject(whole);
  const missing = client.call('get', { podName: 'b', podNamespace: 'c' });
  await expect(missing).rejects.toThrow('2 UNKNOWN: pod b in namespace c not found');
  expect((await client.call('getAllocatableResources')).devices).toMatchObject([...near, plain]);
  const alpha = await client.call('list', {}, '/v1alpha1.PodResourcesLister/List');
  expect(alpha.podResources).toMatchObject([
    { name: 'a', namespace, containers: [{ name: 'app', devices: [{ resourceName: resource, deviceIds: ['plain'] }] }] },
    { name: 'over' },
  ]);
  await service.stop();
});

it('answers ten calls at once and then a hundred a second, and what is no request with an error', async () => {
  const { world, service, clock } = await served([]);
  await using _ = world;
  await service.start();
  using client = clientOf(world.root);
  const outcomes = async (count: number): Promise<string[]> => {
    const all = await Promise.allSettled(Array.from({ length: count }, () => client.call('list')));
    return all.flatMap((each) => (each.status === 'rejected' ? [String(each.reason.message)] : []));
  };
  expect(await outcomes(13)).toEqual(Array(3).fill('8 RESOURCE_EXHAUSTED: rejected by rate limit'));
  await clock.advance(50);
  expect(await outcomes(6)).toHaveLength(1);
  await clock.advance(1000);
  const bad = client.raw('/v1.PodResourcesLister/Get', Buffer.from([255, 255, 255]));
  await expect(bad).rejects.toThrow('13 INTERNAL: the request is no v1.GetPodResourcesRequest');
  const large = client.raw('/v1.PodResourcesLister/List', Buffer.alloc(100_000));
  await expect(large).rejects.toThrow('RESOURCE_EXHAUSTED');
  await expect(client.raw('/v1.PodResourcesLister/Watch', Buffer.alloc(0))).rejects.toThrow('12 UNIMPLEMENTED');
  expect((await client.call('list')).podResources).toEqual([]);
  await service.stop();
});

it('tells what containers have by claims, and of a pod that has very much the first of it', async () => {
  const whole = { driverName: 'gpu.example.com', poolName: 'node-1', deviceName: 'gpu-0', cdiDeviceIDs: ['g/d=0', 'g/d=all'] };
  const share = { ...whole, deviceName: 'gpu-1', shareID: 'share-1', cdiDeviceIDs: [] };
  const large = { ...whole, cdiDeviceIDs: Array.from({ length: 1000 }, (_, at) => `gpu.example.com/device=${at}`) };
  let made = 0;
  const claimsOf = function* ({ metadata }: Pod, { name }: { readonly name: string }) {
    const namespace = metadata?.namespace ?? '';
    if (metadata?.uid !== 'greedy') yield { namespace, name: `claim-of-${name}`, devices: [whole, share] };
    else for (; ; made++) yield { namespace, name: `claim-${made}`, devices: [large] };
  };
  const pods = [podWith('greedy', { app: 0, side: 0 }), podWith('a', { app: 0 })];
  const { world, service, clock, warnings } = await served(pods, undefined, claimsOf);
  await using _ = world;
  await service.start();
  using client = clientOf(world.root);
  const { namespace } = pods[0]?.metadata ?? {};
  const got = (await client.call('get', { podName: 'a', podNamespace: namespace })).podResources.containers;
  const device = { driverName: 'gpu.example.com', poolName: 'node-1', deviceName: 'gpu-0' };
  const claimResources = [
    { ...device, cdiDevices: [{ name: 'g/d=0' }, { name: 'g/d=all' }] },
    { ...device, deviceName: 'gpu-1', cdiDevices: [], shareId: 'share-1' },
  ];
  const dynamicResources = [{ claimName: 'claim-of-app', claimNamespace: namespace, claimResources }];
  expect(got).toMatchObject([{ name: 'app', dynamicResources }]);
  expect(got[0].dynamicResources[0].claimResources[0].shareId).toBeUndefined();
  for (let calls = 0; calls < 2; calls++) {
    const [greedy, plain] = (await client.call('list')).podResources;
    expect(plain.containers).toMatchObject([{ dynamicResources }]);
    const counts = greedy.containers.map((each: typeof greedy) => each.dynamicResources.length);
    expect(counts).toEqual([3, 0]);
  }
  expect(made).toBeLessThan(10);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/so much by claims that .* only the first of it.*"podName":"greedy"/);
  await clock.advance(60_000);
  await client.call('list');
  expect(warnings).toHaveLength(2);
  const alpha = await client.call('list', {}, '/v1alpha1.PodResourcesLister/List');
  expect(alpha.podResources[1].containers[0].dynamicResources).toEqual([]);
  await service.stop();
});
