import { describe, expect, it } from 'vitest';
import { MachineCgroups, type RuntimeOfCgroups } from '../../../../src/kubelet/machine/machine.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakeKernel } from '../cgroups/fake-kernel.ts';
import { FakeSystemd } from '../systemd/fake-systemd.ts';

type Driver = 'cgroupfs' | 'systemd';
const slice = '/cg/kubepods.slice';
const folder = '/cg/kubepods';

function setUp(askDriver: RuntimeOfCgroups['askDriver'], driver: Driver = 'cgroupfs', onOpen = () => {}) {
  const kernel = new FakeKernel(2);
  const clock = new FakeClock();
  const warnings: string[] = [];
  const note = (_fields: object, message: string): void => void warnings.push(message);
  const logger = { debug: () => {}, info: () => {}, warn: note, error: note };
  const systemd = new FakeSystemd(kernel);
  const openSystemBus: typeof systemd.open = (options) => {
    onOpen();
    return systemd.open(options);
  };
  const options = {
    driver,
    openSystemBus,
    limits: { memoryCapacityBytes: 2 ** 32 },
    filesystemRoot: '/cg',
    files: kernel,
    clock,
  };
  return { kernel, systemd, clock, warnings, cgroups: new MachineCgroups(options, { askDriver, logger }) };
}

describe('the cgroups of the machine', () => {
  it('are made by whom the runtime names, whatever the option says', async () => {
    for (const [said, option, made] of [
      ['systemd', 'cgroupfs', slice],
      ['cgroupfs', 'systemd', folder],
    ] as const) {
      const { kernel, cgroups } = setUp(async () => said, option);
      await cgroups.createBase();
      expect([slice, folder].filter((path) => kernel.groups.has(path))).toEqual([made]);
    }
  });

  it('are made by whom the option names where the runtime does not say', async () => {
    for (const [option, made] of [
      ['systemd', slice],
      ['cgroupfs', folder],
    ] as const) {
      const { kernel, cgroups } = setUp(async () => undefined, option);
      await cgroups.createBase();
      expect([slice, folder].filter((path) => kernel.groups.has(path))).toEqual([made]);
    }
  });

  it('wait for a runtime that comes late, and make nothing before it has said who makes them', async () => {
    let isUp = false;
    const { kernel, clock, cgroups, warnings } = setUp(async () => {
      if (!isUp) throw new Error('no connection');
      return 'systemd';
    });
    const made = cgroups.createBase();
    await clock.advance(30_000);
    expect([slice, folder].filter((path) => kernel.groups.has(path))).toEqual([]);
    isUp = true;
    await clock.advance(2000);
    await made;
    expect(kernel.groups.has(slice)).toBe(true);
    expect(warnings).toEqual(['the container runtime does not say which cgroup driver it has; it is asked again']);
  });

  it('are not made by a guess where the runtime stays silent', async () => {
    const { kernel, clock, cgroups } = setUp(async () => {
      throw new Error('no connection');
    });
    const told = expect(cgroups.createBase()).rejects.toThrow(
      'the container runtime did not say which cgroup driver it has: no connection; start the container runtime',
    );
    for (let step = 0; step < 30; step += 1) await clock.advance(2000);
    await told;
    expect(kernel.groups.size).toBe(1);
  });

  it('are not waited for longer than a minute where the runtime hangs', async () => {
    let asked = 0;
    const { clock, cgroups, warnings } = setUp(() => {
      asked += 1;
      return new Promise(() => {});
    });
    const told = expect(cgroups.createBase()).rejects.toThrow('which cgroup driver it has: no answer in ');
    await clock.advance(12_000);
    expect(warnings).toHaveLength(1);
    for (let step = 0; step < 24; step += 1) await clock.advance(2000);
    await told;
    expect(asked).toBe(5);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(['hangs', 'refuses'])('are not waited for by whoever stops while the runtime %s', async (how) => {
    const calls: (AbortSignal | undefined)[] = [];
    const { kernel, clock, cgroups } = setUp(({ signal }) => {
      calls.push(signal);
      return how === 'hangs' ? new Promise(() => {}) : Promise.reject(new Error('no connection'));
    });
    const stopping = new AbortController();
    const told = expect(cgroups.createBase(undefined, stopping.signal)).rejects.toThrow('stopped');
    await clock.advance(100);
    stopping.abort(new Error('stopped'));
    await told;
    expect(calls.map((signal) => signal?.aborted)).toEqual([true]);
    expect([clock.pendingTimers, kernel.groups.size]).toEqual([0, 1]);
  });

  it('are not made, and leave no connection, where the stop comes while they are opened', async () => {
    const stopping = new AbortController();
    const stop = (): void => stopping.abort(new Error('stopped'));
    const { kernel, systemd, cgroups } = setUp(async () => 'systemd', 'systemd', stop);
    await expect(cgroups.createBase(undefined, stopping.signal)).rejects.toThrow('stopped');
    expect([systemd.opened, systemd.connections, kernel.groups.size]).toEqual([1, 0, 1]);
  });

  it('close the connection to systemd', async () => {
    const { systemd, cgroups } = setUp(async () => 'systemd');
    cgroups.close();
    await cgroups.createBase();
    expect(systemd.connections).toBe(1);
    cgroups.close();
    await Promise.resolve();
    expect(systemd.connections).toBe(0);
  });

  it('give all pods together what the node has for them', async () => {
    const { cgroups, kernel } = setUp(async () => undefined);
    await cgroups.createBase({ cpu: '2', memory: '4Gi' });
    expect(await kernel.read('/cg/kubepods/memory.max')).toBe(String(4 * 2 ** 30));
  });
});
