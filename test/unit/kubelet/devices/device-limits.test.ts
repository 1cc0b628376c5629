import { stat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { metricsOption, noMetrics } from '../../../../src/base/metrics/metrics.ts';
import { CheckpointFile } from '../../../../src/kubelet/devices/checkpoint-file.ts';
import { DeviceAllocator } from '../../../../src/kubelet/devices/device-allocator.ts';
import type { DevicePlugin } from '../../../../src/kubelet/devices/device-plugin.ts';
import { DevicePlugins } from '../../../../src/kubelet/devices/device-plugins.ts';
import { DevicePools } from '../../../../src/kubelet/devices/device-pools.ts';
import { PodDevices } from '../../../../src/kubelet/devices/pod-devices.ts';
import { GrpcPlugins } from '../../../../src/plugins.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';
import { DeviceWorld, podWith, resource } from './device-world.ts';

const { signal } = new AbortController();
const options = { preStartRequired: false, preferredAllocationAvailable: false };
const deviceOf = (id: string) => ({ id, health: 'Healthy', numaNodes: [] });

const unexpected = (): never => {
  throw new Error('the plugin is asked for nothing else');
};
/** A plugin of which a test has what is asked. */
const asksForNothing: DevicePlugin = {
  getOptions: unexpected,
  listAndWatch: unexpected,
  getPreferredAllocation: unexpected,
  allocate: unexpected,
  preStartContainer: unexpected,
  close: () => {},
};

it('refuses a pod that would make the checkpoint larger than it can be read, and no other one', async () => {
  const clock = new FakeClock();
  const pools = new DevicePools(clock);
  const connector = new GrpcPlugins();
  const podDevices = new PodDevices((allocation) => connector.allocationBytes(allocation));
  let env = 'x'.repeat(60_000);
  const plugin: DevicePlugin = {
    ...asksForNothing,
    allocate: async () => ({ envs: { BIG: env }, mounts: [], devices: [], annotations: {}, cdiDevices: [] }),
  };
  pools.connect(resource, { plugin, options, socketPath: '/a.sock' });
  pools.list(
    resource,
    Array.from({ length: 1000 }, (_, index) => deviceOf(`device-${index}`)),
  );
  const allocator = new DeviceAllocator({
    ...{ pools, podDevices, clock, metrics: noMetrics },
    unreadable: () => undefined,
    free: () => false,
    awaitPlugin: async () => {},
    save: async () => {},
  });
  const allocate = (uid: string, count: number): Promise<void> => {
    const containers = Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, 1]));
    return allocator.allocatePod({ pod: podWith(uid, containers), runs: false, isRestart: false }, signal);
  };
  await allocate('first', 200);
  const words = /^what all pods have of device plugins would be 168\d{5} bytes in kubelet_internal_checkpoint, and 16777216 are/;
  await expect(allocate('second', 20)).rejects.toThrow(words);
  expect(podDevices.podUIDs()).toEqual(['first']);
  env = 'small';
  await allocate('third', 20);
  expect(podDevices.podUIDs()).toEqual(['first', 'third']);
});

it('writes no checkpoint that is larger than it can be read', async () => {
  const ids = ['x'];
  const file = new CheckpointFile(await tempDir(), () => ({ entries: [], registered: { [resource]: ids } }));
  await file.save();
  const { size } = await stat(file.path);
  ids.push('x'.repeat(64 * 1024 * 1024));
  await expect(file.save()).rejects.toThrow(/would have 67108\d{3} bytes, and 67108864 are the most that are read again/);
  expect((await stat(file.path)).size).toBe(size);
});

it('writes down no more ids of devices than can be read, and all resources', () => {
  const pools = new DevicePools(new FakeClock());
  const names = Array.from({ length: 20 }, (_, index) => `many.example/r${index}`);
  for (const name of names) {
    pools.connect(name, { plugin: {} as DevicePlugin, options, socketPath: '/a.sock' });
    pools.list(
      name,
      Array.from({ length: 10_000 }, (_, index) => deviceOf(`${index}${'x'.repeat(200)}`)),
    );
  }
  const registered = pools.registered();
  expect(Object.keys(registered)).toEqual(names);
  expect(JSON.stringify(registered).length).toBeLessThan(17 * 1024 * 1024);
  expect(registered[names[0] as string]).toHaveLength(10_000);
});

it('forgets resources of plugins that have come and gone', async () => {
  const clock = new FakeClock();
  const pools = new DevicePools(clock);
  const plugin: DevicePlugin = {
    ...asksForNothing,
    getOptions: async () => options,
    // biome-ignore lint/correctness/useYield: it lists nothing
    async *listAndWatch() {
      throw new Error('gone');
    },
  };
  const nothing = (): void => {};
  const plugins = new DevicePlugins({
    ...{ folder: '/plugins', connector: { devicePlugin: () => plugin }, pools, clock, metrics: noMetrics },
    logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    listed: nothing,
    gone: nothing,
  });
  for (let round = 0; round < 4; round += 1) {
    for (let n = 0; n < 100; n += 1) {
      const name = `many.example/r${round}-${n}`;
      await plugins.register({ type: 'DevicePlugin', name, endpoint: '/plugins/a.sock', supportedVersions: ['v1beta1'] }, signal);
      await until(() => pools.get(name)?.connected === undefined);
    }
    await clock.advance(300_001);
    expect(pools.removeOld()).toHaveLength(100);
  }
  expect(pools.removeOld()).toEqual([]);
  const { capacity } = pools.counts();
  expect(Object.keys(capacity)).toHaveLength(100);
  expect(capacity['many.example/r3-99']).toBe('0');
  expect(plugins.troubles().length).toBeLessThanOrEqual(200);
  await plugins.stop();
});

it('measures each resource as long as the node has it', async () => {
  await using world = await DeviceWorld.make();
  const series = new Set<string>();
  const seen = (name: string, labels: object = {}): void => void series.add(`${name} ${JSON.stringify(labels)}`);
  world.metrics = metricsOption({
    increment: seen,
    set: () => {},
    observe: (name, _, labels) => seen(name, labels),
    remove: (name, labels) => void series.delete(`${name} ${JSON.stringify(labels)}`),
  });
  const manager = await world.start();
  const names = ['registration_total', 'alloc_duration_seconds'].map(
    (name) => `kubelet_device_plugin_${name} {"resource_name":"${resource}"}`,
  );
  for (let round = 0; round < 2; round += 1) {
    const plugin = await world.plugin(manager);
    await world.admit(manager, podWith(`pod-${round}`, { app: 1 }));
    expect([...series]).toEqual(names);
    await plugin.stop();
    // its list is read once a second
    await world.clock.advance(1000);
    await until(() => manager.counts().allocatable[resource] === '0');
    await world.clock.advance(300_000);
    expect(manager.counts().capacity[resource]).toBe('2');
    expect([...series]).toEqual(names);
    await world.clock.advance(1);
    expect(manager.counts().capacity[resource]).toBe('0');
    expect([...series]).toEqual([]);
  }
});
