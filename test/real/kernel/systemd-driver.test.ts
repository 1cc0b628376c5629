// Over the machine's own systemd: `npm run test:machine` runs it in a machine that has one.
import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { systemClock } from '../../../src/base/clock.ts';
import { ifCode } from '../../../src/base/errors.ts';
import { kernelCgroupFiles } from '../../../src/kubelet/cgroups/cgroup-files.ts';
import { openSystemBus } from '../../../src/kubelet/systemd/open-system-bus.ts';
import { SystemdUnits } from '../../../src/kubelet/systemd/systemd-units.ts';
import { pollUntil } from '../../support/poll-until.ts';
import { type SystemdMachine, systemdContract } from '../../support/systemd-contract.ts';

const run = async (program: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(program, [...args])).stdout.trim();
const cgroupRoot = `/psmtest${process.pid}.slice`;

async function realMachine(): Promise<SystemdMachine> {
  const units = new SystemdUnits({ openBus: openSystemBus, clock: systemClock });
  const names = async (pattern: string) => (await units.list(pattern)).map(({ name }) => name);
  return {
    options: { openSystemBus },
    cgroupRoot,
    read: (path) => kernelCgroupFiles.read(`/sys/fs/cgroup${path}`),
    async runScope(name, slice) {
      const args = ['--scope', '--quiet', `--slice=${slice}`, `--unit=${name}`, 'sleep', '1000'];
      const { pid = 0 } = spawn('systemd-run', args, { stdio: 'ignore' });
      const isRunning = async () => {
        try {
          return readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(name);
        } catch (error) {
          ifCode('ENOENT', 'ESRCH')(error);
          return false;
        }
      };
      await pollUntil('the scope runs', isRunning, { withinMs: 60_000 });
      return isRunning;
    },
    startSlice: (name, bytes) => units.start(name, [['MemoryMax', ['t', BigInt(bytes)]]], []),
    units: names,
    reload: async () => void (await run('systemctl', 'daemon-reload')),
    restart: async (what) => void (await run('systemctl', ...(what === 'systemd' ? ['daemon-reexec'] : ['restart', 'dbus']))),
    async [Symbol.asyncDispose]() {
      // the deepest first
      for (const name of (await names(`${cgroupRoot.slice(1, -6)}*.slice`)).toSorted((a, b) => b.length - a.length))
        await units.stop(name);
      units.close();
    },
  };
}

systemdContract('the systemd of this machine', realMachine);
