// Over the machine's own cgroups: needs root and the hierarchies of cpu and memory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Pod } from '../../../src/api/json/types.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { kernelCgroupFiles, removeGroup } from '../../../src/kubelet/cgroups/cgroup-files.ts';
import { CgroupManager } from '../../../src/kubelet/cgroups/cgroup-manager.ts';

const cgroupRoot = `/psm-test-${process.pid}`;
const pod: Pod = {
  metadata: { uid: 'pod-of-test', name: 'test' },
  spec: { containers: [{ name: 'c', resources: { requests: { cpu: '500m' }, limits: { cpu: '1', memory: '64Mi' } } }] },
};
let cgroups: CgroupManager;

if (process.getuid?.() !== 0) throw new Error('these tests need the rights of root');

/** The folders of the pod's group. */
function folders(): readonly string[] {
  const roots =
    cgroups.version === 2 ? ['/sys/fs/cgroup'] : ['cpu', 'cpuset', 'memory', 'pids'].map((name) => `/sys/fs/cgroup/${name}`);
  return roots.map((root) => `${root}${cgroups.podParent(pod)}`);
}

beforeEach(async () => {
  cgroups = await CgroupManager.open({ cgroupRoot });
  await cgroups.createBase();
});
afterEach(async () => {
  const roots = (await kernelCgroupFiles.foldersIn('/sys/fs/cgroup')) ?? [];
  const all = [`/sys/fs/cgroup${cgroupRoot}`, ...roots.map((name) => `/sys/fs/cgroup/${name}${cgroupRoot}`)];
  await removeGroup(all, kernelCgroupFiles, systemClock);
});

it('makes a group with limits that the kernel gives back, and takes processes', async () => {
  await cgroups.ensurePod(pod);
  expect(await cgroups.podResources(pod)).toMatchObject({
    cpuQuota: 100_000,
    cpuPeriod: 100_000,
    memoryLimitInBytes: 64 * 1024 ** 2,
  });
  expect(await cgroups.listPods()).toEqual(['pod-of-test']);
  const sleeper = spawn('sleep', ['60']);
  const ended = once(sleeper, 'exit');
  // cpuset takes a process only where its cpus and mems are set
  for (const folder of folders()) await writeFile(`${folder}/cgroup.procs`, String(sleeper.pid));
  expect((await cgroups.podUsage('pod-of-test'))?.memoryUsageBytes).toBeGreaterThanOrEqual(0);
  await cgroups.removePod(pod);
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect(folders().filter((folder) => existsSync(folder))).toEqual([]);
  expect(await cgroups.listPods()).toEqual([]);
});

it('changes limits in both directions', async () => {
  await cgroups.ensurePod(pod);
  await cgroups.updatePod(pod, { cpuShares: 100, cpuQuota: 50_000, cpuPeriod: 50_000, memoryLimitInBytes: 128 * 1024 ** 2 });
  expect(await cgroups.podResources(pod)).toMatchObject({
    cpuQuota: 50_000,
    cpuPeriod: 50_000,
    memoryLimitInBytes: 128 * 1024 ** 2,
  });
  await cgroups.updatePod({ ...pod, spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] } });
  expect(await cgroups.podResources(pod)).toMatchObject({ cpuQuota: -1, memoryLimitInBytes: -1 });
});

it('removes groups inside the group, with what runs in them', async () => {
  await cgroups.ensurePod(pod);
  const [first = ''] = folders();
  await kernelCgroupFiles.makeFolder(`${first}/inner`);
  const sleeper = spawn('sleep', ['60']);
  const ended = once(sleeper, 'exit');
  await writeFile(`${first}/inner/cgroup.procs`, String(sleeper.pid));
  await cgroups.removePod('pod-of-test');
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect(existsSync(first)).toBe(false);
});

it('measures the whole node', async () => {
  expect((await cgroups.usage('node'))?.memoryWorkingSetBytes).toBeGreaterThan(0);
  expect((await cgroups.usage('pods'))?.memoryUsageBytes).toBeGreaterThanOrEqual(0);
});
