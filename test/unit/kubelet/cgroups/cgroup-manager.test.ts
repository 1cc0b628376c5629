import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { CgroupManager, type CgroupManagerOptions } from '../../../../src/kubelet/cgroups/cgroup-manager.ts';
import { machineProcesses } from '../../../../src/kubelet/cgroups/cgroup-resources.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { barePod } from '../../../support/pods.ts';
import { FakeKernel } from './fake-kernel.ts';

const memory = { memoryCapacityBytes: 1024 ** 3 };

function opened(kernel: FakeKernel, options: CgroupManagerOptions = {}): Promise<CgroupManager> {
  return CgroupManager.open({ filesystemRoot: '/cg', files: kernel, limits: memory, ...options });
}

const podWith = (uid: string, resources: object = {}): Pod =>
  barePod({ metadata: { uid }, spec: { containers: [{ name: 'c', resources }] } });

const burstable = podWith('b', { requests: { cpu: '500m' }, limits: { cpu: '1', memory: '64Mi' } });
const guaranteed = podWith('g', { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } });

describe.each([1, 2] as const)('CgroupManager on version %i', (version) => {
  const groupsBelow = (kernel: FakeKernel) =>
    [...kernel.groups.keys()].filter((path) => path.includes('kubepods') && (version === 2 || path.startsWith('/cg/cpu/')));
  const folder = version === 1 ? '/cg/cpu' : '/cg';

  it('makes the groups of all pods, and one of a pod with its limits', async () => {
    const kernel = new FakeKernel(version);
    const cgroups = await opened(kernel);
    expect(cgroups.version).toBe(version);
    await cgroups.createBase({ cpu: '2', memory: '4Gi' });
    await cgroups.ensurePod(burstable);
    await cgroups.ensurePod(guaranteed);
    const base = `${folder}/kubepods`;
    expect(groupsBelow(kernel).sort()).toEqual([
      base,
      `${base}/besteffort`,
      `${base}/burstable`,
      `${base}/burstable/podb`,
      `${base}/podg`,
    ]);
    expect(cgroups.podParent(burstable)).toBe('/kubepods/burstable/podb');
    // version 2 counts in weights, which are coarser than shares
    const cpuShares = version === 1 ? 512 : 500;
    expect(await cgroups.podResources(burstable)).toEqual({
      ...{ cpuQuota: 100_000, cpuPeriod: 100_000, memoryLimitInBytes: 64 * 1024 ** 2 },
      cpuShares,
    });
    expect(await cgroups.podResources(podWith('none'))).toBeUndefined();
    expect((await cgroups.listPods()).toSorted()).toEqual(['b', 'g']);
  });

  it('limits all pods together to what the node gives them, processes and huge pages too', async () => {
    const kernel = new FakeKernel(version);
    const cgroups = await opened(kernel, { limits: { ...memory, hugePageSizes: ['2MB'] } });
    // the groups are made before what is looked at
    await cgroups.createBase();
    const written = async (allocatable?: Record<string, string>) => {
      kernel.written.length = 0;
      await cgroups.createBase(allocatable);
      return kernel.written.filter((line) => /\/kubepods\/[^/]+$/.test(line)).map((line) => line.replace(/^.*\//, ''));
    };
    expect(await written({ cpu: '2', memory: '4Gi', pid: '1k', 'hugepages-2Mi': '4Mi' })).toEqual(
      version === 1
        ? [
            'cpu.shares = 2048',
            `memory.limit_in_bytes = ${4 * 1024 ** 3}`,
            'pids.max = 1000',
            'hugetlb.2MB.limit_in_bytes = 4194304',
          ]
        : ['cpu.weight = 79', `memory.max = ${4 * 1024 ** 3}`, 'pids.max = 1000', 'hugetlb.2MB.max = 4194304'],
    );
    expect(await written({ cpu: '2' })).toContain(`pids.max = ${machineProcesses()}`);
    expect(await written()).toEqual([]);
  });

  it('limits a group of the machine that is there, and only its processor time where that is asked', async () => {
    const kernel = new FakeKernel(version);
    const cgroups = await opened(kernel, { limits: { ...memory, hugePageSizes: ['2MB'] } });
    await cgroups.createBase();
    const hierarchies =
      version === 1 ? ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids', 'hugetlb'].map((name) => `/cg/${name}`) : ['/cg'];
    for (const root of hierarchies) await kernel.makeFolder(`${root}/system`);
    const written = async (onlyCompressible?: boolean) => {
      kernel.written.length = 0;
      await cgroups.limitGroup('/system/', { cpu: '1', memory: '1Mi', pid: '7' }, onlyCompressible);
      return kernel.written.map((line) => line.replace(/^.*system\//, ''));
    };
    const processor = version === 1 ? 'cpu.shares = 1024' : 'cpu.weight = 39';
    expect(await written(true)).toEqual([processor]);
    expect(await written()).toEqual(
      version === 1
        ? [processor, 'memory.limit_in_bytes = 1048576', 'pids.max = 7', 'hugetlb.2MB.limit_in_bytes = 0']
        : [processor, 'memory.max = 1048576', 'pids.max = 7', 'hugetlb.2MB.max = 0'],
    );
    await expect(cgroups.limitGroup('/none', { cpu: '1' })).rejects.toThrow(`there is no cgroup ${hierarchies[0]}/none`);
  });

  it('weighs the burstable pods by what they ask for together', async () => {
    const kernel = new FakeKernel(version);
    const cgroups = await opened(kernel);
    await cgroups.createBase();
    kernel.written.length = 0;
    await cgroups.updateClasses([burstable, guaranteed, burstable]);
    await cgroups.updateClasses([burstable, burstable]);
    const file = version === 1 ? '/cg/cpu/kubepods/burstable/cpu.shares' : '/cg/kubepods/burstable/cpu.weight';
    expect(kernel.written).toEqual([`${file} = ${version === 1 ? 1024 : 39}`]);
    kernel.refuse = () => 'EIO';
    await expect(cgroups.updateClasses([])).rejects.toThrow(`cannot write ${version === 1 ? 2 : 1} to ${file}: EIO`);
    kernel.refuse = undefined;
    await cgroups.updateClasses([]);
    expect(kernel.written.at(-1)).toBe(`${file} = ${version === 1 ? 2 : 1}`);
  });

  it('puts the weights of classes right each minute, and tries again at once what has failed', async () => {
    const kernel = new FakeKernel(version);
    const clock = new FakeClock();
    const cgroups = await opened(kernel, { clock });
    await cgroups.createBase();
    await cgroups.updateClasses([burstable]);
    const writtenIn = async (ms: number) => {
      kernel.written.length = 0;
      await clock.advance(ms);
      await cgroups.updateClasses([burstable]);
      return kernel.written.map((line) => line.replace(/^.*kubepods\//, ''));
    };
    expect(await writtenIn(59_000)).toEqual([]);
    const both =
      version === 1
        ? ['besteffort/cpu.shares = 2', 'burstable/cpu.shares = 512']
        : ['besteffort/cpu.weight = 1', 'burstable/cpu.weight = 20'];
    expect(await writtenIn(1000)).toEqual(both);
    expect(await writtenIn(59_000)).toEqual([]);
    kernel.refuse = () => 'EIO';
    await expect(writtenIn(1000)).rejects.toThrow('EIO');
    kernel.refuse = undefined;
    expect(await writtenIn(0)).toEqual(both);
  });

  it('takes limits away that a pod has no longer, and changes only what it is told', async () => {
    const kernel = new FakeKernel(version);
    const cgroups = await opened(kernel);
    await cgroups.createBase();
    await cgroups.ensurePod(burstable);
    await cgroups.updatePod(burstable, { memoryLimitInBytes: 2 ** 20 });
    expect(await cgroups.podResources(burstable)).toMatchObject({ cpuQuota: 100_000, memoryLimitInBytes: 2 ** 20 });
    await cgroups.updatePod(podWith('b', { requests: { cpu: '500m' } }));
    expect(await cgroups.podResources(burstable)).toMatchObject({ cpuQuota: -1, memoryLimitInBytes: -1 });
  });

  it('leaves a group that containers are in, and mends one that has none', async () => {
    const kernel = new FakeKernel(version);
    const cgroups = await opened(kernel);
    await cgroups.createBase();
    await cgroups.ensurePod(burstable);
    await cgroups.updatePod(burstable, { memoryLimitInBytes: 2 ** 20 });
    await kernel.makeFolder(`${folder}/kubepods/burstable/podb/container`);
    await cgroups.ensurePod(burstable);
    expect(await cgroups.podResources(burstable)).toMatchObject({ memoryLimitInBytes: 2 ** 20 });
    await kernel.removeFolder(`${folder}/kubepods/burstable/podb/container`);
    await cgroups.ensurePod(burstable);
    expect(await cgroups.podResources(burstable)).toMatchObject({ memoryLimitInBytes: 64 * 1024 ** 2 });
  });

  it('kills what is left in a pod and removes its groups, the deepest first', async () => {
    const kernel = new FakeKernel(version);
    const cgroups = await opened(kernel);
    await cgroups.createBase();
    await cgroups.ensurePod(burstable);
    const inside = `${folder}/kubepods/burstable/podb/container`;
    await kernel.makeFolder(inside);
    kernel.run(inside, 4_000_001);
    await cgroups.removePod('b');
    expect(kernel.killed).toEqual([4_000_001]);
    expect(await cgroups.listPods()).toEqual([]);
    await cgroups.removePod(burstable);
  });

  it('never kills itself, the init process, or what it cannot see, and says what stays', async () => {
    const kernel = new FakeKernel(version);
    const clock = new FakeClock();
    const cgroups = await opened(kernel, { clock });
    await cgroups.createBase();
    await cgroups.ensurePod(burstable);
    for (const pid of [0, 1, process.pid]) kernel.run(`${folder}/kubepods/burstable/podb`, pid);
    const removed = expect(cgroups.removePod('b')).rejects.toThrow('has processes that do not end');
    for (let tries = 0; tries < 60; tries += 1) await clock.advance(50);
    await removed;
    expect(kernel.killed).toEqual([]);
  });

  it('tries again while killed processes are still there', async () => {
    const kernel = new FakeKernel(version);
    const clock = new FakeClock();
    const cgroups = await opened(kernel, { clock });
    await cgroups.createBase();
    await cgroups.ensurePod(burstable);
    kernel.stubborn.add(4_000_001);
    kernel.run(`${folder}/kubepods/burstable/podb`, 4_000_001);
    const removed = cgroups.removePod('b');
    await clock.advance(100);
    kernel.stubborn.clear();
    for (let tries = 0; tries < 60; tries += 1) await clock.advance(50);
    await removed;
    expect(await cgroups.listPods()).toEqual([]);
  });

  it('makes a pod only once the one before it under the same uid is gone', async () => {
    const kernel = new FakeKernel(version);
    const clock = new FakeClock();
    const cgroups = await opened(kernel, { clock });
    await cgroups.createBase();
    await cgroups.ensurePod(burstable);
    const group = `${folder}/kubepods/burstable/podb`;
    kernel.stubborn.add(4_000_001);
    kernel.run(group, 4_000_001);
    const removed = cgroups.removePod('b');
    expect(cgroups.removePod(burstable)).toBe(removed);
    const made = cgroups.ensurePod(burstable).then(() => kernel.run(group, 4_000_002));
    await clock.advance(10);
    kernel.stubborn.clear();
    for (let tries = 0; tries < 60; tries += 1) await clock.advance(50);
    await Promise.all([removed, made]);
    expect(kernel.killed).not.toContain(4_000_002);
    expect(await cgroups.listPods()).toEqual(['b']);
  });

  it('makes the groups above a pod, too, where they are not there', async () => {
    const kernel = new FakeKernel(version);
    const cgroups = await opened(kernel, { cgroupRoot: '/outer' });
    await cgroups.ensurePod(burstable);
    expect(await cgroups.podResources(burstable)).toMatchObject({ memoryLimitInBytes: 64 * 1024 ** 2 });
    if (version === 1) expect(await kernel.read('/cg/cpuset/outer/kubepods/cpuset.cpus')).toBe('0-1');
  });

  it('measures', async () => {
    const kernel = new FakeKernel(version);
    const cgroups = await opened(kernel, { clock: new FakeClock() });
    await cgroups.createBase();
    await cgroups.ensurePod(burstable);
    const expected = { memoryUsageBytes: 900, memoryWorkingSetBytes: 600, memoryRssBytes: 500, cpuNanoseconds: 7000 };
    expect(await cgroups.podUsage('b')).toMatchObject(expected);
    expect(await cgroups.usage('pods')).toMatchObject(expected);
    expect(await cgroups.podUsage('none')).toBeUndefined();
  });

  it('refuses a uid that would lead elsewhere', async () => {
    const cgroups = await opened(new FakeKernel(version));
    for (const uid of ['', '..', '../x', 'a/b', 'a_b', 'a\nb']) {
      expect(() => cgroups.podParent(podWith(uid))).toThrow('podUID');
      await expect(cgroups.removePod(uid)).rejects.toThrow('podUID');
    }
  });

  it('refuses a machine without the controllers that limits need', async () => {
    await expect(opened(new FakeKernel(version, ['cpu', 'cpuset', 'pids']))).rejects.toThrow('memory');
  });
});

describe('CgroupManager', () => {
  it('limits a group of version 1 that is not in hierarchies that limit nothing', async () => {
    const hierarchies = ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids', 'hugetlb', 'systemd'];
    const kernel = new FakeKernel(1, [...hierarchies, 'freezer', 'net_cls']);
    const cgroups = await opened(kernel);
    for (const name of hierarchies) await kernel.makeFolder(`/cg/${name}/system`);
    await cgroups.limitGroup('/system', { cpu: '1' });
    expect(kernel.written).toEqual(['/cg/cpu/system/cpu.shares = 1024']);
    for (const name of hierarchies) {
      await kernel.removeFolder(`/cg/${name}/system`);
      await expect(cgroups.limitGroup('/system', { cpu: '1' })).rejects.toThrow(`there is no cgroup /cg/${name}/system`);
      await kernel.makeFolder(`/cg/${name}/system`);
    }
  });

  it('gives groups of version 1 processors and memory nodes to run on', async () => {
    const kernel = new FakeKernel(1);
    const cgroups = await opened(kernel);
    await cgroups.createBase();
    await cgroups.ensurePod(burstable);
    expect(await kernel.read('/cg/cpuset/kubepods/burstable/podb/cpuset.cpus')).toBe('0-1');
    expect(await kernel.read('/cg/cpuset/kubepods/burstable/podb/cpuset.mems')).toBe('0');
    // the hierarchy of version 2 beside those of version 1 is left alone
    expect(kernel.groups.has('/cg/unified/kubepods')).toBe(false);
  });

  it('sets the quota before a period that the old quota does not fit', async () => {
    const kernel = new FakeKernel(1);
    const cgroups = await opened(kernel);
    await cgroups.createBase();
    await cgroups.ensurePod(burstable);
    let refused = 0;
    kernel.refuse = (path) => (path.endsWith('cfs_period_us') && refused++ === 0 ? 'EINVAL' : undefined);
    kernel.written.length = 0;
    await cgroups.updatePod(burstable, { cpuQuota: 5000, cpuPeriod: 10_000 });
    expect(kernel.written.map((line) => line.split('/').at(-1))).toEqual([
      'cpu.cfs_quota_us = 5000',
      'cpu.cfs_period_us = 10000',
    ]);
  });

  it('says why groups of version 2 get no controllers', async () => {
    const kernel = new FakeKernel(2);
    kernel.refuse = (path) => (path === '/cg/cgroup.subtree_control' ? 'EBUSY' : undefined);
    await expect((await opened(kernel)).createBase()).rejects.toMatchObject({
      name: 'CgroupError',
      code: 'ERR_CGROUP',
      message: expect.stringContaining('/cg/kubepods has no controller for cpu and memory and pids'),
    });
  });

  it('limits huge pages, where the kernel has them', async () => {
    const limits = { ...memory, hugePageSizes: ['2MB'] };
    const pod = podWith('h', { requests: { 'hugepages-2Mi': '4Mi', memory: '1Mi' }, limits: { 'hugepages-2Mi': '4Mi' } });
    const [v1, v2] = [new FakeKernel(1), new FakeKernel(2)];
    for (const kernel of [v1, v2]) {
      const cgroups = await opened(kernel, { limits });
      await cgroups.createBase();
      await cgroups.ensurePod(pod);
    }
    expect(v1.written).toContain('/cg/hugetlb/kubepods/burstable/podh/hugetlb.2MB.limit_in_bytes = 4194304');
    expect(v2.written).toContain('/cg/kubepods/burstable/podh/hugetlb.2MB.max = 4194304');
  });

  it('limits the processes of a pod, where the node says so', async () => {
    for (const [version, file] of [
      [1, '/cg/pids/kubepods/burstable/podb/pids.max'],
      [2, '/cg/kubepods/burstable/podb/pids.max'],
    ] as const) {
      const kernel = new FakeKernel(version);
      const limited = await opened(kernel, { limits: { ...memory, podPidsLimit: 100 } });
      await limited.createBase();
      await (await opened(kernel)).ensurePod(burstable);
      expect(await kernel.read(file)).toBe('max');
      await limited.ensurePod(burstable);
      expect(await kernel.read(file)).toBe('100');
    }
  });

  it('makes its groups in another one, when told', async () => {
    const cgroups = await opened(new FakeKernel(2), { cgroupRoot: '/outer/inner' });
    expect(cgroups.podParent(guaranteed)).toBe('/outer/inner/kubepods/podg');
  });

  it('refuses the driver that it has not', async () => {
    await expect(opened(new FakeKernel(1), { driver: 'systemd' })).rejects.toThrow('SystemdCgroup = false');
  });

  it.each([
    [{ filesystemRoot: 'cg' }, 'filesystemRoot'],
    [{ cgroupRoot: '/a/../b' }, 'cgroupRoot'],
    [{ driver: 'other' as 'cgroupfs' }, 'driver'],
    [{ limit: {} } as CgroupManagerOptions, 'options.limit'],
  ])('refuses %j', async (options, name) => {
    await expect(CgroupManager.open(options)).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      message: expect.stringContaining(name),
    });
  });
});
