// What CriRuntime promises over a container runtime, where systemd is process 1 and cgroups are of version 2.
import { afterAll, beforeAll, describe } from 'vitest';
import { runtimeContract } from '../../support/runtime-contract/runtime-contract.ts';
import { type ContainerdServer, containerdSubject } from '../node/runtime/containerd-subject.ts';
import { type CgroupDriver, machineWithRuntime } from './support/machine-node.ts';
import type { NodeMachine } from './support/node-machine.ts';

describe.each(['cgroupfs', 'systemd'] as const)('with the cgroup driver %s', (driver) => {
  let machine: NodeMachine;
  let containerd: ContainerdServer;

  beforeAll(async () => {
    machine = await machineWithRuntime(driver);
    containerd = await containerdOf(machine, driver);
  });
  afterAll(() => machine?.stop());

  describe('CriRuntime over containerd keeps the contract of a container runtime', () =>
    runtimeContract(() => containerdSubject(containerd)));
});

async function containerdOf(machine: NodeMachine, driver: CgroupDriver): Promise<ContainerdServer> {
  return {
    ...(driver === 'systemd' && { cgroupParent: '/contract.slice' }),
    socketPath: await machine.reach('/run/containerd/containerd.sock'),
    readFile: async (path) => (await machine.run(['cat', path])).stdout,
    async kill() {
      await machine.read(['systemctl', 'kill', '--kill-who=main', '--signal=KILL', 'containerd']);
      await machine.read(['sh', '-c', 'while systemctl is-active -q containerd; do sleep 0.05; done']);
    },
    async start() {
      await machine.read(['systemctl', 'start', 'containerd']);
    },
  };
}
