// `npm run test:machine [-- --short]`: the tests in a machine with systemd and cgroups of version 2. The short form is for CI: the
// cgroups, those of the kernel and those of pods. With VITEST_JSON=FOLDER each run of tests leaves its report there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { root } from '../../structure/source-tree.ts';
import buildPackage from '../../support/build-setup.ts';
import { buildForMachine } from './support/machine-node.ts';
import { NodeMachine, sharedByDefault } from './support/node-machine.ts';
import { whyNoMachineTests } from './support/why-no-machine.ts';

const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config'];

/** The files of test/real/machine that the short form has. */
const shortFiles = ['test/real/machine/pod-groups.test.ts'];

/** What the short form has of test/real/kernel: the cgroups. The mounts are those of every kernel. */
const shortKernelFiles = ['test/real/kernel/cgroups.test.ts', 'test/real/kernel/systemd-driver.test.ts'];

const reports = process.env.VITEST_JSON;
const { short } = parseArgs({ options: { short: { type: 'boolean', default: false } } }).values;

/** Runs the tests of a folder inside a machine; false when one failed. */
async function runKernelTests(): Promise<boolean> {
  const machine = await NodeMachine.start({ shared: [...sharedByDefault(), ...(reports === undefined ? [] : [reports])] });
  try {
    const tests = [process.execPath, ...vitest, 'test/real/kernel/vitest.config.ts', ...(short ? shortKernelFiles : [])];
    const command = ['unshare', '--mount', '--propagation', 'private', ...tests];
    const env = { OWN_MOUNTS: '1', RUN_BY_SYSTEMD: '1', HOME: '/root', ...(reports !== undefined && { VITEST_JSON: reports }) };
    const [code] = await once(machine.spawn(command, { env }), 'close');
    return code === 0;
  } finally {
    await machine.stop();
  }
}

async function runMachineTests(): Promise<boolean> {
  const args = [...vitest, 'test/real/machine/vitest.config.ts', ...(short ? shortFiles : [])];
  const [code] = await once(spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] }), 'close');
  return code === 0;
}

const reason = await whyNoMachineTests();
if (reason !== undefined) {
  console.error(`not run: ${reason}`);
  process.exit(1);
}
await buildForMachine();
await buildPackage();
// side by side: each machine has one processor
const passed = await Promise.all([runKernelTests(), runMachineTests()]);
process.exitCode = passed.every(Boolean) ? 0 : 1;
