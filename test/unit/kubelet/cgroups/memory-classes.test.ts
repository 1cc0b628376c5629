// Numbers after pkg/kubelet/kuberuntime/kuberuntime_container_linux.go, cm/helpers_linux.go and cm/qos_container_manager_linux.go, v1.36.3.

import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { CgroupManager } from '../../../../src/kubelet/cgroups/cgroup-manager.ts';
import {
  checkedNodeLimits,
  containerCgroupResources,
  type NodeLimits,
  podCgroupResources,
} from '../../../../src/kubelet/cgroups/cgroup-resources.ts';
import type { MemoryQOS } from '../../../../src/kubelet/cgroups/memory-classes.ts';
import { type BareParts, barePod } from '../../../support/pods.ts';
import { FakeKernel } from './fake-kernel.ts';

const MiB = 2 ** 20;
const GiB = 2 ** 30;
const tiered: MemoryQOS = {
  reservationPolicy: 'TieredReservation',
  throttlingFactor: 0.9,
  allocatableBytes: 3 * GiB,
  pageSizeBytes: 4096,
};
const swap = { behavior: 'LimitedSwap', capacityBytes: 2 * GiB } as const;

function podWith(
  uid: string,
  requests: Record<string, string>,
  limits: Record<string, string> = {},
  more: Omit<BareParts, 'kind'> = {},
): Pod {
  return barePod({
    ...more,
    metadata: { ...more.metadata, uid },
    spec: { ...more.spec, containers: [{ name: 'c', resources: { requests, limits } }] },
  });
}
const burstable = podWith('b', { memory: '100Mi' }, { memory: '200Mi' });
const guaranteed = podWith('g', { cpu: '1', memory: '1Gi' }, { cpu: '1', memory: '1Gi' });

function unifiedOf(pod: Pod, more: NodeLimits, version: 1 | 2 = 2): Readonly<Record<string, string>> | undefined {
  const limits = checkedNodeLimits({ cgroupVersion: version, singleProcessOOMKill: true, ...more }, 4 * GiB);
  const [container] = pod.spec?.containers ?? [];
  return containerCgroupResources(pod, container ?? { name: 'c' }, limits).unified;
}

describe('memory that is kept for a container', () => {
  const high = (requested: number, most: number, factor = 0.9) =>
    String(Math.floor((requested + (most - requested) * factor) / 4096) * 4096);

  it.each<[string, Pod, MemoryQOS, Record<string, string>]>([
    ['is all that a guaranteed one asks for, which is never slowed down', guaranteed, tiered, { 'memory.min': String(GiB) }],
    [
      'is only as long as it can be for a burstable one, which is slowed down before its limit',
      burstable,
      tiered,
      { 'memory.low': String(100 * MiB), 'memory.high': high(100 * MiB, 200 * MiB) },
    ],
    [
      'is nothing without the policy',
      burstable,
      { ...tiered, reservationPolicy: 'None', throttlingFactor: 0.5 },
      { 'memory.min': '0', 'memory.low': '0', 'memory.high': high(100 * MiB, 200 * MiB, 0.5) },
    ],
    [
      'is less than what all pods may take, where it has no limit',
      podWith('u', { memory: '100Mi' }),
      tiered,
      { 'memory.low': String(100 * MiB), 'memory.high': high(100 * MiB, 3 * GiB) },
    ],
    ['is nothing where nothing is asked for', podWith('e', {}), tiered, { 'memory.min': '0', 'memory.low': '0' }],
    [
      'counts whole pages',
      podWith('p', { memory: '100Mi' }, { memory: '200Mi' }),
      { ...tiered, pageSizeBytes: 65_536 },
      { 'memory.low': String(100 * MiB), 'memory.high': String(Math.floor((190 * MiB) / 65_536) * 65_536) },
    ],
    [
      'leaves a limit out that is no more than what is asked for',
      podWith('h', { memory: '100Mi' }, { memory: '104857601' }),
      tiered,
      { 'memory.low': String(100 * MiB) },
    ],
    [
      'leaves a limit out where nobody knows what pods may take',
      podWith('n', { memory: '100Mi' }),
      { ...tiered, allocatableBytes: 0 },
      { 'memory.low': String(100 * MiB) },
    ],
  ])('%s', (_what, pod, memoryQOS, expected) => {
    expect(unifiedOf(pod, { memoryQOS })).toEqual(expected);
    expect(unifiedOf(pod, { memoryQOS }, 1)).toBeUndefined();
  });

  it('is that of its pod, too, with the policy alone', () => {
    const of = (pod: Pod, memoryQOS?: MemoryQOS, cgroupVersion: 1 | 2 = 2) =>
      podCgroupResources(pod, checkedNodeLimits({ cgroupVersion, ...(memoryQOS && { memoryQOS }) }, 4 * GiB)).unified;
    expect(of(guaranteed, tiered)).toEqual({ 'memory.min': String(GiB) });
    expect(of(burstable, tiered)).toEqual({ 'memory.low': String(100 * MiB) });
    expect(of(burstable, { ...tiered, reservationPolicy: 'None' })).toBeUndefined();
    expect(of(podWith('e', {}), tiered)).toBeUndefined();
    expect(of(burstable)).toBeUndefined();
    expect(of(guaranteed, tiered, 1)).toBeUndefined();
  });

  it('is that of its class and of all pods, and changes with them', async () => {
    const kernel = new FakeKernel(2);
    const limits = { memoryCapacityBytes: 4 * GiB, memoryQOS: tiered };
    const cgroups = await CgroupManager.open({ filesystemRoot: '/cg', files: kernel, limits });
    await cgroups.createBase();
    const written = async (...pods: Pod[]) => {
      kernel.written.length = 0;
      await cgroups.updateClasses(pods);
      return kernel.written.filter((line) => line.includes('memory')).map((line) => line.replace('/cg/kubepods/', ''));
    };
    expect(await written(guaranteed, burstable)).toEqual([
      `memory.min = ${GiB + 100 * MiB}`,
      `burstable/memory.low = ${100 * MiB}`,
    ]);
    expect(await written(guaranteed, burstable)).toEqual([]);
    expect(await written()).toEqual(['memory.min = 0', 'burstable/memory.low = 0']);
  });

  it('is kept for the machine as it is reserved', async () => {
    const kernel = new FakeKernel(2);
    const limits = { memoryCapacityBytes: 4 * GiB, memoryQOS: { ...tiered, reservationPolicy: 'None' as const } };
    const cgroups = await CgroupManager.open({ filesystemRoot: '/cg', files: kernel, limits });
    await cgroups.createBase();
    await kernel.makeFolder('/cg/system');
    await cgroups.limitGroup('/system', { memory: '1Mi' });
    expect(kernel.written).toContain(`/cg/system/memory.min = ${MiB}`);
  });
});

describe('swap of a container', () => {
  const file = 'memory.swap.max';

  it.each<[string, Pod, string]>([
    ['is its share of the memory, for a burstable one', burstable, String(Math.trunc((100 / 4096) * 2 * GiB))],
    ['is none for a guaranteed one', guaranteed, '0'],
    ['is none for one that asks for no memory', podWith('e', { cpu: '1' }), '0'],
    ['is none for one that asks for all that it may take', podWith('a', { cpu: '1', memory: '1Gi' }, { memory: '1Gi' }), '0'],
    ['is none for a critical pod', podWith('k', { memory: '1Gi' }, {}, { spec: { priority: 2_000_000_000 } }), '0'],
    [
      'is none for a static pod',
      podWith('s', { memory: '1Gi' }, {}, { metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } }),
      '0',
    ],
    ['is none for one that asks for more than the machine has', podWith('m', { memory: '5Gi' }), '0'],
  ])('%s', (_what, pod, expected) => {
    expect(unifiedOf(pod, { swap })).toEqual({ [file]: expected });
    expect(unifiedOf(pod, { swap: { ...swap, behavior: 'NoSwap' } })).toEqual({ [file]: '0' });
    expect(unifiedOf(pod, {})).toBeUndefined();
  });

  it('is with cgroups of version 1 what is left of the limit of memory', () => {
    const of = (pod: Pod) => {
      const limits = checkedNodeLimits({ cgroupVersion: 1, swap: { ...swap, behavior: 'NoSwap' } }, 4 * GiB);
      return containerCgroupResources(pod, pod.spec?.containers?.[0] ?? { name: 'c' }, limits);
    };
    expect(of(burstable)).toMatchObject({ memoryLimitInBytes: 200 * MiB, memorySwapLimitInBytes: 200 * MiB });
    expect(of(podWith('u', {}))).not.toHaveProperty('memorySwapLimitInBytes');
  });

  it('stands beside what else is told to the kernel', () => {
    const limits = checkedNodeLimits({ cgroupVersion: 2, swap, memoryQOS: tiered }, 4 * GiB);
    const { unified } = containerCgroupResources(burstable, burstable.spec?.containers?.[0] ?? { name: 'c' }, limits);
    expect(Object.keys(unified ?? {}).toSorted()).toEqual(['memory.high', 'memory.low', 'memory.oom.group', file]);
  });
});

it.each<[NodeLimits, string]>([
  [{ memoryQOS: { ...tiered, throttlingFactor: 0 } }, 'limits.memoryQOS.throttlingFactor'],
  [{ memoryQOS: { ...tiered, throttlingFactor: 1.1 } }, 'limits.memoryQOS.throttlingFactor'],
  [{ memoryQOS: { ...tiered, reservationPolicy: 'All' as 'None' } }, 'limits.memoryQOS.reservationPolicy'],
  [{ memoryQOS: { ...tiered, allocatableBytes: -1 } }, 'limits.memoryQOS.allocatableBytes'],
  [{ memoryQOS: { ...tiered, pageSizeBytes: 0 } }, 'limits.memoryQOS.pageSizeBytes'],
  [{ swap: { ...swap, behavior: 'Unlimited' as 'NoSwap' } }, 'limits.swap.behavior'],
  [{ swap: { ...swap, capacityBytes: Number.NaN } }, 'limits.swap.capacityBytes'],
])('a limit of the node that breaks a rule is refused: %j', (limits, name) => {
  expect(() => checkedNodeLimits(limits, GiB)).toThrow(name);
});
