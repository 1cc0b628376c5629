import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { noMetrics } from '../../../../src/base/metrics/metrics.ts';
import type { Pod } from '../../../../src/index.ts';
import { PodResourcesService } from '../../../../src/kubelet/devices/pod-resources-service.ts';
import { PodResourcesLister } from '../../../../src/kubelet/plugins/proto/podresources_pb.ts';
import { GrpcPlugins } from '../../../../src/plugins.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { DeviceWorld, podWith, resource, wordsOf } from './device-world.ts';

const asIs = (bytes: Buffer): Buffer => bytes;
const { method } = PodResourcesLister;

/** A client of the API, over its socket. */
class ResourcesClient implements Disposable {
  readonly #client: Client;

  constructor(root: string) {
    this.#client = new Client(`unix:${join(root, 'pod-resources', 'kubelet.sock')}`, credentials.createInsecure());
  }

  raw(path: string, bytes: Buffer): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    this.#client.makeUnaryRequest(path, asIs, asIs, bytes, (error, answer) =>
      error ? reject(error) : resolve(answer ?? Buffer.alloc(0)),
    );
    return promise;
  }

  async call(name: keyof typeof method, request: object = {}, path = `/v1.PodResourcesLister/${method[name].name}`) {
    const { input, output } = method[name];
    const bytes = Buffer.from(toBinary(input, create(input, request as Record<string, never>)));
    // biome-ignore lint/suspicious/noExplicitAny: the fields of any message
    return fromBinary(output, await this.raw(path, bytes)) as any;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

/** The pods that are not over come first. */
async function served(pods: readonly Pod[], isOver: (pod: Pod) => boolean = () => false) {
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
  const service = new PodResourcesService({
    rootDirectory: world.root,
    connector: new GrpcPlugins({ clock }),
    devices: manager,
    activePods: () => pods.filter((pod) => !isOver(pod)),
    allPods: () => pods,
    podByName: (namespace, name) => pods.find((each) => each.metadata?.name === name && each.metadata?.namespace === namespace),
    metrics: noMetrics,
  });
  // a file that an earlier agent has left is in nobody's way
  await mkdir(join(world.root, 'pod-resources'));
  await writeFile(join(world.root, 'pod-resources', 'kubelet.sock'), '');
  return { world, service, clock };
}

it('tells what containers have, what could be given, and of which pods', async () => {
  const pods = [podWith('a', { initr: 1, app: 1 }), podWith('over', {})];
  const { world, service } = await served(pods, ({ metadata }) => metadata?.uid === 'over');
  await using _ = world;
  await service.start();
  using client = new ResourcesClient(world.root);
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
  using client = new ResourcesClient(world.root);
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
