import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/api/json/types.ts';
import { CgroupManager, type CgroupManagerOptions } from '../../src/kubelet/cgroups/cgroup-manager.ts';
import { barePod } from './pods.ts';

/** A machine with a systemd, real or not. Its cgroups have `cgroupRoot` for themselves. */
export interface SystemdMachine {
  /** For the driver `systemd`, whose slices are below `cgroupRoot`. */
  readonly options: CgroupManagerOptions;
  /** `/` or a slice, such as `/test.slice`. */
  readonly cgroupRoot: string;
  /** The text of a file of a group, with version 2. */
  read(path: string): Promise<string | undefined>;
  /** Makes a scope with a process that goes on, and resolves with how one finds out whether it runs. */
  runScope(name: string, slice: string): Promise<() => Promise<boolean>>;
  /** Makes a slice as a kubelet does, with a limit of memory. */
  startSlice(name: string, memoryBytes: number): Promise<void>;
  /** The units that systemd knows by such names. */
  units(pattern: string): Promise<readonly string[]>;
  reload(): Promise<void>;
  /** Executes systemd, or the bus, anew. */
  restart(what: 'systemd' | 'bus'): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const podWith = (uid: string, resources: object = {}): Pod =>
  barePod({ metadata: { uid }, spec: { containers: [{ name: 'c', resources }] } });
const mebibyte = 1024 ** 2;
const burstable = podWith('0a1b-2c', { requests: { cpu: '500m' }, limits: { cpu: '333m', memory: '64Mi' } });
const guaranteed = podWith('9f-0', { requests: { cpu: '1', memory: '32Mi' }, limits: { cpu: '1', memory: '32Mi' } });
const bestEffort = podWith('77');

/** What the driver `systemd` promises on cgroups of version 2, whether the systemd is real or not. */
export function systemdContract(name: string, openMachine: () => Promise<SystemdMachine>): void {
  async function setUp() {
    const machine = await openMachine();
    const open = () => CgroupManager.open({ ...machine.options, driver: 'systemd', cgroupRoot: machine.cgroupRoot });
    const cgroups = await open();
    const slice = (pod: Pod) => cgroups.podParent(pod).replace(/^.*\//, '');
    const limit = async (pod: Pod, file = 'memory.max') => (await machine.read(`${cgroups.podParent(pod)}/${file}`))?.trim();
    return { machine, open, cgroups, slice, limit, [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose]() };
  }

  describe(`the cgroup driver on ${name}`, () => {
    it('makes slices inside slices, with the limits of their pods', async () => {
      await using test = await setUp();
      await test.cgroups.createBase({ cpu: '2', memory: '512Mi', pid: '5000' });
      for (const pod of [burstable, guaranteed, bestEffort]) await test.cgroups.ensurePod(pod);
      expect((await test.cgroups.listPods()).toSorted()).toEqual(['0a1b-2c', '77', '9f-0']);
      const beginning = test.machine.cgroupRoot === '/' ? '' : test.machine.cgroupRoot.replace(/^\/(.*)\.slice$/, '$1-');
      expect(test.slice(burstable)).toBe(`${beginning}kubepods-burstable-pod0a1b_2c.slice`);
      const all = test.cgroups.podParent(guaranteed).replace(/\/[^/]*$/, '');
      expect((await test.machine.read(`${all}/memory.max`))?.trim()).toBe(String(512 * mebibyte));
      expect((await test.machine.read(`${all}/pids.max`))?.trim()).toBe('5000');
      // systemd counts quotas in hundredths of a processor, and rounds up
      expect(await test.cgroups.podResources(burstable)).toEqual({
        ...{ cpuShares: 500, cpuQuota: 34_000, cpuPeriod: 100_000 },
        memoryLimitInBytes: 64 * mebibyte,
      });
      expect(await test.cgroups.podResources(podWith('none'))).toBeUndefined();
      expect((await test.cgroups.podUsage('9f-0'))?.memoryUsageBytes).toBeGreaterThanOrEqual(0);
    });

    it('changes limits so that a reload of systemd keeps them', async () => {
      await using test = await setUp();
      await test.cgroups.createBase();
      await test.cgroups.ensurePod(burstable);
      await test.cgroups.updatePod(burstable, { memoryLimitInBytes: 48 * mebibyte, cpuQuota: 70_000, cpuPeriod: 50_000 });
      const changed = { memoryLimitInBytes: 48 * mebibyte, cpuQuota: 70_000, cpuPeriod: 50_000 };
      expect(await test.cgroups.podResources(burstable)).toMatchObject(changed);
      await test.machine.reload();
      expect(await test.cgroups.podResources(burstable)).toMatchObject(changed);
      await test.cgroups.updatePod(podWith('0a1b-2c', { requests: { cpu: '500m' } }));
      await test.machine.reload();
      expect(await test.cgroups.podResources(burstable)).toMatchObject({ cpuQuota: -1, memoryLimitInBytes: -1 });
    });

    it('keeps the weights of classes over a reload', async () => {
      await using test = await setUp();
      await test.cgroups.createBase();
      await test.cgroups.updateClasses([burstable]);
      await test.machine.reload();
      const group = test.cgroups.podParent(burstable).replace(/\/[^/]*$/, '');
      expect((await test.machine.read(`${group}/cpu.weight`))?.trim()).toBe('20');
    });

    it('removes a pod with the scopes and processes that are left in it, and leaves no unit', async () => {
      await using test = await setUp();
      await test.cgroups.createBase();
      await test.cgroups.ensurePod(burstable);
      await test.cgroups.ensurePod(bestEffort);
      const isRunning = await test.machine.runScope('psm-left.scope', test.slice(burstable));
      expect(await isRunning()).toBe(true);
      await test.cgroups.removePod('0a1b-2c');
      expect(await isRunning()).toBe(false);
      expect(await test.cgroups.listPods()).toEqual(['77']);
      expect(await test.limit(burstable)).toBeUndefined();
      expect([...(await test.machine.units('*pod0a1b_2c*')), ...(await test.machine.units('psm-left*'))]).toEqual([]);
      await test.cgroups.removePod('0a1b-2c');
      await test.cgroups.ensurePod(burstable);
      expect(await test.limit(burstable)).toBe(String(64 * mebibyte));
    });

    it('adopts the slices of an agent or a kubelet that ran before, and mends their limits', async () => {
      await using test = await setUp();
      await test.cgroups.createBase();
      await test.machine.startSlice(test.slice(burstable), 7 * mebibyte);
      const next = await test.open();
      await next.createBase();
      expect(await next.listPods()).toEqual(['0a1b-2c']);
      await next.ensurePod(burstable);
      expect(await test.limit(burstable)).toBe(String(64 * mebibyte));
      // with containers in it, it stays as it is
      await next.updatePod(burstable, { memoryLimitInBytes: 48 * mebibyte });
      await test.machine.runScope('psm-left.scope', test.slice(burstable));
      await (await test.open()).ensurePod(burstable);
      expect(await test.limit(burstable)).toBe(String(48 * mebibyte));
      await next.removePod(burstable);
      expect(await test.machine.units('*pod0a1b_2c*')).toEqual([]);
    });

    it.each(['systemd', 'bus'] as const)('goes on when the %s is started anew', async (what) => {
      await using test = await setUp();
      await test.cgroups.createBase();
      await test.cgroups.ensurePod(burstable);
      await test.machine.restart(what);
      await test.cgroups.updatePod(burstable, { memoryLimitInBytes: 48 * mebibyte });
      await test.cgroups.ensurePod(bestEffort);
      await test.cgroups.removePod('77');
      await test.machine.reload();
      expect(await test.limit(burstable)).toBe(String(48 * mebibyte));
      expect(await test.cgroups.listPods()).toEqual(['0a1b-2c']);
    });

    it('makes many pods at once while systemd is started anew', async () => {
      await using test = await setUp();
      await test.cgroups.createBase();
      const pods = Array.from({ length: 10 }, (_, index) => podWith(`many-${index}`, { limits: { memory: `${index + 8}Mi` } }));
      const restarted = test.machine.restart('systemd');
      await Promise.all(pods.map((pod) => test.cgroups.ensurePod(pod)));
      await restarted;
      const limits = await Promise.all(pods.map((pod) => test.limit(pod)));
      expect(limits).toEqual(pods.map((_, index) => String((index + 8) * mebibyte)));
      await Promise.all(pods.map((pod) => test.cgroups.removePod(pod)));
      expect(await test.cgroups.listPods()).toEqual([]);
    });

    it('never keeps limits for a group that is not there', async () => {
      await using test = await setUp();
      await test.cgroups.createBase();
      await expect(test.cgroups.updatePod(burstable)).rejects.toThrow(`cannot change ${test.slice(burstable)}: `);
      expect(await test.machine.units('*pod0a1b_2c*')).toEqual([]);
    });
  });
}
