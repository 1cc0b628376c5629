import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { CgroupManager, type CgroupManagerOptions } from '../../../../src/kubelet/cgroups/cgroup-manager.ts';
import { rootCgroup } from '../../../../src/kubelet/cgroups/cgroup-names.ts';
import { SystemBusError } from '../../../../src/kubelet/systemd/system-bus.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { barePod } from '../../../support/pods.ts';
import { type SystemdMachine, systemdContract } from '../../../support/systemd-contract.ts';
import { FakeSystemd, refusal } from '../systemd/fake-systemd.ts';
import { FakeKernel } from './fake-kernel.ts';

const limits = { memoryCapacityBytes: 1024 ** 3 };

async function fakeMachine(cgroupRoot: string): Promise<SystemdMachine> {
  const kernel = new FakeKernel(2);
  const systemd = new FakeSystemd(kernel);
  return {
    options: { filesystemRoot: '/cg', files: kernel, limits, openSystemBus: systemd.open },
    cgroupRoot,
    read: (path) => kernel.read(`/cg${path}`),
    async runScope(name, slice) {
      await systemd.runScope(name, slice, 4_000_001);
      return async () => !kernel.killed.includes(4_000_001);
    },
    startSlice: (name, bytes) => systemd.startSlice(name, bytes),
    units: async (pattern) => systemd.named(pattern),
    reload: () => systemd.reload(),
    restart: async () => systemd.drop(),
    [Symbol.asyncDispose]: async () => {},
  };
}

systemdContract('a fake systemd', () => fakeMachine('/'));
systemdContract('a fake systemd, below a slice', () => fakeMachine('/outer.slice'));

const podWith = (uid: string, resources: object = {}): Pod =>
  barePod({ metadata: { uid }, spec: { containers: [{ name: 'c', resources }] } });
const burstable = podWith('b', { requests: { cpu: '500m' }, limits: { cpu: '1', memory: '64Mi' } });

async function setUp(version: 1 | 2 = 2, more: CgroupManagerOptions = {}) {
  const kernel = new FakeKernel(version);
  const systemd = new FakeSystemd(kernel);
  const clock = new FakeClock();
  const options = {
    driver: 'systemd',
    filesystemRoot: '/cg',
    files: kernel,
    limits,
    openSystemBus: systemd.open,
    clock,
  } as const;
  const cgroups = await CgroupManager.open({ ...options, ...more });
  return { kernel, systemd, clock, cgroups };
}

describe('the cgroup driver systemd', () => {
  it('makes a pod by one call, with the properties of libcontainer', async () => {
    const { systemd, cgroups } = await setUp(2, { limits: { ...limits, podPidsLimit: 1000 } });
    await cgroups.createBase();
    systemd.calls.length = 0;
    await cgroups.ensurePod(burstable);
    expect(systemd.calls).toEqual(['StartTransientUnit kubepods-burstable-podb.slice']);
    expect(Object.fromEntries(systemd.units.get('kubepods-burstable-podb.slice') ?? [])).toEqual({
      Description: 'libcontainer container kubepods-burstable-podb.slice',
      Wants: ['kubepods-burstable.slice'],
      MemoryAccounting: true,
      CPUAccounting: true,
      IOAccounting: true,
      TasksAccounting: true,
      DefaultDependencies: false,
      CPUWeight: 20n,
      CPUQuotaPerSecUSec: 1_000_000n,
      CPUQuotaPeriodUSec: 100_000n,
      MemoryMax: 64n * 1024n ** 2n,
      TasksMax: 1000n,
    });
    expect(systemd.units.get('kubepods.slice')?.get('Wants')).toEqual(['-.slice']);
  });

  it('tells systemd of version 1 what that has', async () => {
    const { systemd, kernel, cgroups } = await setUp(1);
    await cgroups.createBase();
    await cgroups.ensurePod(burstable);
    const properties = Object.fromEntries(systemd.units.get('kubepods-burstable-podb.slice') ?? []);
    expect(properties).toMatchObject({ BlockIOAccounting: true, CPUShares: 512n, MemoryLimit: 64n * 1024n ** 2n });
    expect(properties).not.toHaveProperty('CPUWeight');
    const group = '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podb.slice';
    // what systemd does not make
    expect(await kernel.read(`/cg/cpuset${group}/cpuset.cpus`)).toBe('0-1');
    expect(await cgroups.podResources(burstable)).toMatchObject({ cpuShares: 512, cpuQuota: 100_000 });
    await cgroups.removePod('b');
    expect([...kernel.groups.keys()].filter((path) => path.includes('podb'))).toEqual([]);
  });

  it('leaves out the period of a quota where systemd is too old for it', async () => {
    const { systemd, cgroups } = await setUp();
    systemd.versionText = '239';
    const older = await CgroupManager.open({
      ...{ driver: 'systemd', filesystemRoot: '/cg', files: systemd.kernel, limits, openSystemBus: systemd.open },
    });
    await cgroups.createBase();
    await older.ensurePod(burstable);
    expect(systemd.units.get('kubepods-burstable-podb.slice')?.has('CPUQuotaPeriodUSec')).toBe(false);
    expect(systemd.units.get('kubepods-burstable-podb.slice')?.get('CPUQuotaPerSecUSec')).toBe(1_000_000n);
  });

  it('lets go of units that a crash has left without a group, and of no others', async () => {
    const { systemd, cgroups } = await setUp();
    for (const name of ['kubepods-podx.slice', 'kubepods-burstable-pody.slice', 'kubepods-other.slice', 'kubepodsa-podz.slice']) {
      systemd.units.set(name, new Map());
    }
    systemd.failed.add('kubepods-burstable-pody.slice');
    await systemd.startSlice('kubepods-podlive.slice', 1024 ** 2);
    await cgroups.createBase();
    expect([...systemd.units.keys()].toSorted()).toEqual([
      ...['kubepods-besteffort.slice', 'kubepods-burstable.slice', 'kubepods-other.slice', 'kubepods-podlive.slice'],
      ...['kubepods.slice', 'kubepodsa-podz.slice'],
    ]);
  });

  it('never stops a slice with a process in it that must not end', async () => {
    const { systemd, kernel, clock, cgroups } = await setUp();
    await cgroups.createBase();
    await cgroups.ensurePod(burstable);
    await systemd.runScope('x.scope', 'kubepods-burstable-podb.slice', process.pid);
    const removed = expect(cgroups.removePod('b')).rejects.toThrow('has processes that do not end');
    for (let tries = 0; tries < 60; tries += 1) await clock.advance(50);
    await removed;
    expect(kernel.killed).toEqual([]);
    expect(systemd.calls.filter((call) => call.startsWith('StopUnit'))).toEqual([]);
  });

  it('has systemd end what the agent does not see', async () => {
    const { systemd, clock, cgroups } = await setUp();
    await cgroups.createBase();
    await cgroups.ensurePod(burstable);
    await systemd.runScope('x.scope', 'kubepods-burstable-podb.slice', 0);
    const removed = cgroups.removePod('b');
    for (let tries = 0; tries < 60; tries += 1) await clock.advance(50);
    await removed;
    expect(systemd.calls).toContain('StopUnit kubepods-burstable-podb.slice');
    expect(await cgroups.listPods()).toEqual([]);
  });

  it('says what stays where systemd cannot end it either', async () => {
    const { systemd, kernel, clock, cgroups } = await setUp();
    await cgroups.createBase();
    await cgroups.ensurePod(burstable);
    kernel.stubborn.add(4_000_001);
    await systemd.runScope('x.scope', 'kubepods-burstable-podb.slice', 4_000_001);
    const removed = expect(cgroups.removePod('b')).rejects.toThrow('has processes that do not end');
    for (let tries = 0; tries < 120; tries += 1) await clock.advance(50);
    await removed;
    expect(systemd.calls).toContain('StopUnit kubepods-burstable-podb.slice');
    expect(await cgroups.listPods()).toEqual(['b']);
  });

  it('lets go of its connection, and opens one anew where it is used again', async () => {
    const { systemd, cgroups } = await setUp();
    expect(systemd.connections).toBe(1);
    cgroups.close();
    await Promise.resolve();
    expect(systemd.connections).toBe(0);
    await cgroups.createBase();
    expect(systemd.connections).toBe(1);
  });

  it('says which unit systemd refuses, and in which words', async () => {
    const { systemd, cgroups } = await setUp();
    await cgroups.createBase();
    systemd.refuse = (member) =>
      member === 'StartTransientUnit' ? refusal('org.freedesktop.DBus.Error.AccessDenied', 'no') : undefined;
    const refused = await cgroups.ensurePod(burstable).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'ERR_CGROUP',
      message: 'systemd did not start kubepods-burstable-podb.slice: no',
      cause: { code: 'ERR_SYSTEMD', refusal: 'org.freedesktop.DBus.Error.AccessDenied' },
    });
  });

  it('tells what the kernel refuses, which systemd keeps to itself', async () => {
    const { kernel, cgroups } = await setUp();
    await cgroups.createBase();
    kernel.refuse = (path) => (path.endsWith('podb.slice/memory.max') ? 'EBUSY' : undefined);
    await expect(cgroups.ensurePod(burstable)).rejects.toThrow(/cannot write 67108864 to .*podb\.slice\/memory\.max: EBUSY/);
  });

  it('says at the start what would help where systemd is not there', async () => {
    const kernel = new FakeKernel(2);
    const clock = new FakeClock();
    const systemd = new FakeSystemd(kernel);
    systemd.away = new SystemBusError('no connection to systemd (/run/dbus/system_bus_socket: ENOENT)', { isLost: true });
    const options = { driver: 'systemd', filesystemRoot: '/cg', files: kernel, limits, clock } as const;
    const opened = CgroupManager.open({ ...options, openSystemBus: systemd.open }).catch((error: unknown) => error);
    for (let step = 0; step < 12; step += 1) await clock.advance(500);
    const told = String(await opened);
    for (const part of [
      'the cgroup driver is systemd',
      '/run/dbus/system_bus_socket: ENOENT',
      '/run/dbus or /run/systemd',
      'SystemdCgroup = false',
    ]) {
      expect(told).toContain(part);
    }
    await expect(CgroupManager.open(options)).rejects.toThrow(/needs the option openSystemBus.*pod-status-manager\/systemd/);
    await expect(CgroupManager.open({ ...options, openSystemBus: 'x' as never })).rejects.toThrow(
      '`openSystemBus` to be a function',
    );
  });
});

describe('the cgroup root of the driver systemd', () => {
  it.each([
    ['/', []],
    ['/a/b-c', ['a', 'b-c']],
    ['/a.slice', ['a']],
    ['/a.slice/a-b_c.slice', ['a', 'b-c']],
  ])('%s', (path, name) => {
    expect(rootCgroup(path, 'systemd')).toEqual(name);
  });

  it.each([
    '/a.slice/b.slice',
    '/a.slice/b',
    '/a/a-b.slice',
    '/a-b.slice',
    '/-.slice',
    '/a--b.slice',
    '/.slice',
  ])('refuses %s', async (cgroupRoot) => {
    expect(() => rootCgroup(cgroupRoot, 'systemd')).toThrow(/`cgroupRoot` to be slices.*\(string\)/);
    await expect(CgroupManager.open({ driver: 'systemd', cgroupRoot, files: new FakeKernel(2) })).rejects.toThrow('cgroupRoot');
  });

  it('is any path for the driver cgroupfs', () => {
    expect(rootCgroup('/a.slice/b', 'cgroupfs')).toEqual(['a.slice', 'b']);
  });
});
