// Numbers after pkg/kubelet/cm/helpers_linux.go, qos/policy.go and kuberuntime_container_linux.go, v1.36.3.

import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import type { Container } from '../../../../src/api/pod/pod-containers.ts';
import {
  milliCPUOfQuota,
  milliCPUOfShares,
  quotaOf,
  sharesOf,
  sharesOfWeight,
  weightOf,
} from '../../../../src/kubelet/cgroups/cgroup-files.ts';
import { cgroupPath, namedCgroup, podCgroup, podOfFolder } from '../../../../src/kubelet/cgroups/cgroup-names.ts';
import {
  checkedNodeLimits,
  containerCgroupResources,
  hugepageLimits,
  machineProcesses,
  type NodeLimits,
  oomScoreAdj,
  pageSizeName,
  podCgroupResources,
  sandboxOverhead,
  sandboxResources,
} from '../../../../src/kubelet/cgroups/cgroup-resources.ts';
import { FakeCgroups } from '../../../../src/testing/fakes/fake-cgroups.ts';
import { type BareParts, barePod } from '../../../support/pods.ts';

const GiB = 1024 ** 3;
const limitsWith = (limits: NodeLimits = {}) => checkedNodeLimits(limits, 4 * GiB);
const limits = limitsWith();

function container(requests?: Record<string, string>, own?: Record<string, string>, more: Partial<Container> = {}): Container {
  return { name: 'c', resources: { ...(requests && { requests }), ...(own && { limits: own }) }, ...more };
}
const podOf = (containers: Container[], spec: BareParts['spec'] = {}): Pod =>
  barePod({ metadata: { uid: 'u' }, spec: { containers, ...spec } });

it("a node has as many processes as the smaller of the kernel's two limits says", () => {
  const of = (files: Record<string, string>) => machineProcesses((path) => files[path] ?? '');
  const [pids, threads] = ['/proc/sys/kernel/pid_max', '/proc/sys/kernel/threads-max'] as const;
  expect(of({ [pids]: '32768\n', [threads]: '31992\n' })).toBe(31_992);
  expect(of({ [pids]: '32768\n', [threads]: '63000\n' })).toBe(32_768);
  expect(of({ [pids]: '32768\n' })).toBe(32_768);
  expect(of({ [pids]: 'none', [threads]: '0' })).toBeUndefined();
});

describe('the name of a group of the machine', () => {
  it.each([
    ['/system.slice', 'cgroupfs', '/system.slice'],
    ['system/daemons/', 'cgroupfs', '/system/daemons'],
    ['/system.slice', 'systemd', '/system.slice'],
    ['system', 'systemd', '/system.slice'],
    ['/a.slice/a-b.slice', 'systemd', '/a.slice/a-b.slice'],
    ['a-b_c.slice', 'systemd', '/a.slice/a-b_c.slice'],
  ] as const)('%s is with %s the path %s', (name, driver, path) => {
    expect(namedCgroup(name, driver)).toBe(path);
  });
});

describe('processor time', () => {
  it.each([
    [0, 2],
    [1, 2],
    [2, 2],
    [3, 3],
    [100, 102],
    [1000, 1024],
    [1500, 1536],
    [256_000, 262_144],
    [999_999_999, 262_144],
  ])('%i thousandths are %i shares', (milliCPU, shares) => {
    expect(sharesOf(milliCPU)).toBe(shares);
  });

  it.each([
    [0, 100_000, 0],
    [1, 100_000, 1000],
    [10, 100_000, 1000],
    [200, 100_000, 20_000],
    [1500, 100_000, 150_000],
    [200, 5000, 1000],
  ])('%i thousandths in a period of %i us are a quota of %i', (milliCPU, period, quota) => {
    expect(quotaOf(milliCPU, period)).toBe(quota);
  });

  it('is read back', () => {
    expect([milliCPUOfShares(0), milliCPUOfShares(2), milliCPUOfShares(102), milliCPUOfShares(1024)]).toEqual([0, 2, 100, 1000]);
    expect([milliCPUOfQuota(-1, 100_000), milliCPUOfQuota(20_000, 100_000), milliCPUOfQuota(1, 0)]).toEqual([0, 200, 0]);
  });

  it.each([
    [2, 1],
    [102, 4],
    [1024, 39],
    [262_144, 10_000],
  ])('%i shares are a weight of %i', (shares, weight) => {
    expect(weightOf(shares)).toBe(weight);
    expect(weightOf(sharesOfWeight(weight))).toBeLessThanOrEqual(weight);
  });
});

describe('podCgroupResources', () => {
  const quota = (cpuQuota: number) => ({ cpuQuota, cpuPeriod: 100_000 });
  it.each<[string, Container[], object]>([
    ['best effort', [container()], { cpuShares: 2 }],
    ['requests only', [container({ cpu: '100m', memory: '1Mi' })], { cpuShares: 102 }],
    [
      'limits of each container',
      [container({ cpu: '100m' }, { cpu: '200m', memory: '10Mi' }), container({}, { cpu: '300m', memory: '10Mi' })],
      { cpuShares: 102, ...quota(50_000), memoryLimitInBytes: 20 * 1024 ** 2 },
    ],
    [
      'one container without limits',
      [container({ cpu: '100m' }, { cpu: '200m', memory: '10Mi' }), container()],
      { cpuShares: 102 },
    ],
    [
      'guaranteed',
      [container({ cpu: '1', memory: '1Gi' }, { cpu: '1', memory: '1Gi' })],
      { cpuShares: 1024, ...quota(100_000), memoryLimitInBytes: GiB },
    ],
  ])('%s', (_what, containers, expected) => {
    expect(podCgroupResources(podOf(containers), limits)).toEqual(expected);
  });

  it('takes what the pod itself says before what its containers say', () => {
    const pod = podOf([container()], { resources: { requests: { cpu: '1' }, limits: { cpu: '2', memory: '1Gi' } } });
    expect(podCgroupResources(pod, limits)).toEqual({ cpuShares: 1024, ...quota(200_000), memoryLimitInBytes: GiB });
  });

  it('counts init containers: one without a limit takes the limit away, except beside a limited sidecar', () => {
    const limited = container({ cpu: '1' }, { cpu: '1', memory: '1Gi' });
    const sidecar = container({}, { cpu: '1', memory: '1Gi' }, { name: 's', restartPolicy: 'Always' });
    const bare = container(undefined, undefined, { name: 'i' });
    expect(podCgroupResources(podOf([limited], { initContainers: [bare] }), limits)).toEqual({ cpuShares: 1024 });
    expect(podCgroupResources(podOf([limited], { initContainers: [sidecar, bare] }), limits)).toMatchObject(quota(200_000));
  });

  it('sets no quota where the node enforces none', () => {
    const pod = podOf([container({ cpu: '1' }, { cpu: '1', memory: '1Gi' })]);
    expect(podCgroupResources(pod, limitsWith({ cpuCFSQuota: false }))).toMatchObject({ cpuQuota: -1 });
  });
});

describe('containerResources', () => {
  it('takes the limit for the request, and the limit of the pod for that of the container', () => {
    const own = container({}, { cpu: '500m' });
    const { hugepageLimits: _pages, ...taken } = containerCgroupResources(
      podOf([{ name: 'c', resources: { limits: { cpu: '500m' } } }]),
      { name: 'c', resources: { limits: { cpu: '500m' } } },
      limits,
    );
    expect(taken).toEqual({ cpuShares: 512, cpuQuota: 50_000, cpuPeriod: 100_000, oomScoreAdj: 999 });
    const pod = podOf([own], { resources: { limits: { cpu: '3', memory: '1Gi' } } });
    expect(containerCgroupResources(pod, own, limits)).toMatchObject({ cpuQuota: 50_000, memoryLimitInBytes: GiB });
    expect(containerCgroupResources(pod, container(), limits)).toMatchObject({ cpuQuota: 300_000 });
  });

  it('lets all processes of a container go with cgroup v2, unless told otherwise', () => {
    const of = (more: NodeLimits) => containerCgroupResources(podOf([container()]), container(), limitsWith(more)).unified;
    expect(of({ cgroupVersion: 2 })).toEqual({ 'memory.oom.group': '1' });
    expect(of({ cgroupVersion: 2, singleProcessOOMKill: true })).toBeUndefined();
    expect(of({ cgroupVersion: 1 })).toBeUndefined();
  });

  it('knows the sandbox from what it takes itself', () => {
    const pod = podOf([container({ cpu: '100m' }, { cpu: '200m', memory: '1Gi' })], {
      overhead: { cpu: '250m', memory: '64Mi' },
    });
    expect(sandboxResources(pod, limits)).toEqual({
      cpuShares: 102,
      cpuQuota: 20_000,
      cpuPeriod: 100_000,
      memoryLimitInBytes: GiB,
    });
    expect(sandboxOverhead(pod, limits)).toMatchObject({ cpuShares: 256, memoryLimitInBytes: 64 * 1024 ** 2 });
    expect(podCgroupResources(pod, limits)).toMatchObject({ cpuShares: 358, cpuQuota: 45_000 });
    expect(sandboxOverhead(podOf([]), limits)).toBeUndefined();
  });

  it.each([
    [{ cpuCFSQuotaPeriodUs: 10 }, 'limits.cpuCFSQuotaPeriodUs'],
    [{ memoryCapacityBytes: 0 }, 'limits.memoryCapacityBytes'],
    [{ cpuCFSQuota: 'no' as unknown as boolean }, 'limits.cpuCFSQuota'],
  ])('refuses %j', (bad, name) => {
    expect(() => limitsWith(bad)).toThrow(name);
  });
});

describe('oomScoreAdj', () => {
  const guaranteed = container({ cpu: '1', memory: '1Gi' }, { cpu: '1', memory: '1Gi' });
  const score = (pod: Pod, of: Container) => oomScoreAdj(pod, of, 4 * GiB);

  it('is fixed for guaranteed and best-effort pods and those that the node needs', () => {
    expect(score(podOf([guaranteed]), guaranteed)).toBe(-997);
    expect(score(podOf([container()]), container())).toBe(1000);
    const critical = podOf([container()], { priorityClassName: 'system-node-critical', priority: 2_000_001_000 });
    expect(score(critical, container())).toBe(-997);
    expect(score({ ...critical, spec: { ...critical.spec, priority: 7 } as NonNullable<Pod['spec']> }, container())).toBe(1000);
  });

  it.each([
    ['1Gi', 750],
    ['100Mi', 976],
    ['4Gi', 3],
    ['9Gi', 3],
    ['1', 999],
  ])('falls with the request of a burstable one: %s', (memory, expected) => {
    const own = container({ memory });
    expect(score(podOf([own]), own)).toBe(expected);
  });

  it('lets a sidecar go no sooner than the regular containers', () => {
    const sidecar = container({ memory: '1Mi' }, {}, { name: 's', restartPolicy: 'Always' });
    const pod = podOf([container({ memory: '1Gi' }), container({ memory: '2Gi' })], { initContainers: [sidecar] });
    expect(score(pod, sidecar)).toBe(750);
    expect(score(pod, { ...sidecar, restartPolicy: 'Never' })).toBe(999);
  });

  it('shares what the pod itself asks for', () => {
    const pod = podOf([container({ memory: '1Gi' }), container()], { resources: { requests: { memory: '3Gi' } } });
    // 2 GiB are left for two containers
    expect(score(pod, container({ memory: '1Gi' }))).toBe(500);
    expect(score(pod, container())).toBe(750);
  });
});

describe('huge pages', () => {
  it.each([
    [2 * 1024 ** 2, '2MB'],
    [GiB, '1GB'],
    [64 * 1024, '64KB'],
    [0, undefined],
    [2047 * 1024 + 1, undefined],
  ])('%i bytes are %s', (bytes, name) => {
    expect(pageSizeName(bytes)).toBe(name);
  });

  it('gives each size a limit, and the first list counts most', () => {
    const of = hugepageLimits(
      ['2MB', '1GB'],
      { 'hugepages-2Mi': '4Mi', cpu: '1' },
      { 'hugepages-2Mi': '8Mi', 'hugepages-3Mi': '1' },
    );
    expect(of).toEqual([
      { pageSize: '2MB', limit: 4 * 1024 ** 2 },
      { pageSize: '1GB', limit: 0 },
    ]);
  });
});

describe('names of cgroups', () => {
  const name = podCgroup(['outer'], '0a1b-2c', 'Burstable');
  it('are folders, or slices inside slices', () => {
    expect(cgroupPath(name, 'cgroupfs')).toBe('/outer/kubepods/burstable/pod0a1b-2c');
    expect(cgroupPath(name, 'systemd')).toBe(
      '/outer.slice/outer-kubepods.slice/outer-kubepods-burstable.slice/outer-kubepods-burstable-pod0a1b_2c.slice',
    );
    expect(cgroupPath(podCgroup([], 'x', 'Guaranteed'), 'cgroupfs')).toBe('/kubepods/podx');
  });

  it('are read back', () => {
    expect(podOfFolder('pod0a1b-2c', 'cgroupfs')).toBe('0a1b-2c');
    expect(podOfFolder('kubepods-burstable-pod0a1b_2c.slice', 'systemd')).toBe('0a1b-2c');
    expect(podOfFolder('burstable', 'cgroupfs')).toBeUndefined();
    expect(podOfFolder('pod', 'cgroupfs')).toBeUndefined();
    expect(podOfFolder('pod0a1b', 'systemd')).toBeUndefined();
  });
});

describe('FakeCgroups', () => {
  it('keeps the limits of pods, as the real ones do', async () => {
    const cgroups = new FakeCgroups({ limits: { memoryCapacityBytes: GiB } });
    const pod = podOf([container({ cpu: '100m' }, { cpu: '200m', memory: '1Mi' })]);
    await cgroups.createBase();
    await cgroups.ensurePod(pod);
    await cgroups.updatePod(pod, { cpuShares: 7 });
    await cgroups.ensurePod(pod);
    expect(await cgroups.podResources(pod)).toMatchObject({ cpuShares: 7, memoryLimitInBytes: 1024 ** 2 });
    expect(await cgroups.listPods()).toEqual(['u']);
    await cgroups.removePod(pod);
    expect(await cgroups.podResources(pod)).toBeUndefined();
    expect(cgroups.podParent(pod)).toBe('/kubepods/burstable/podu');
    expect(new FakeCgroups({ perPod: false }).podParent(pod)).toBe('/');
  });
});
