import { describe, expect, it } from 'vitest';
import { MachineCgroups } from '../../../../src/kubelet/machine/machine.ts';
import { FakeKernel } from '../cgroups/fake-kernel.ts';

type Driver = 'cgroupfs' | 'systemd';

function setUp(askDriver: () => Promise<Driver | undefined>, driver: Driver = 'cgroupfs') {
  const kernel = new FakeKernel(2);
  const warnings: string[] = [];
  const note = (_fields: object, message: string): void => void warnings.push(message);
  const logger = { debug: () => {}, info: () => {}, warn: note, error: note };
  const limits = { memoryCapacityBytes: 2 ** 32 };
  const cgroups = new MachineCgroups({ driver, limits, filesystemRoot: '/cg', files: kernel }, { askDriver, logger });
  return { kernel, cgroups, warnings };
}

describe('the cgroups of the machine', () => {
  it('are made by whom the runtime names, whatever the option says', async () => {
    await expect(setUp(async () => 'systemd').cgroups.createBase()).rejects.toThrow('systemd is not supported');
    await setUp(async () => 'cgroupfs', 'systemd').cgroups.createBase();
  });

  it('are made by whom the option names where the runtime does not say, or cannot be asked', async () => {
    const silent = async () => undefined;
    const down = async () => {
      throw new Error('no connection');
    };
    for (const ask of [silent, down]) {
      await setUp(ask).cgroups.createBase();
      await expect(setUp(ask, 'systemd').cgroups.createBase()).rejects.toThrow('systemd is not supported');
    }
    const { cgroups, warnings } = setUp(down);
    await cgroups.createBase();
    expect(warnings).toEqual(['the container runtime did not say which cgroup driver it has; that of the options is used']);
  });

  it('give all pods together what the node has for them', async () => {
    const { cgroups, kernel } = setUp(async () => undefined);
    await cgroups.createBase({ cpu: '2', memory: '4Gi' });
    expect(await kernel.read('/cg/kubepods/memory.max')).toBe(String(4 * 2 ** 30));
  });
});
