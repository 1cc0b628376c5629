// The part of `npm run test:cluster` that needs root: the tests of test/real/kernel, those of other projects over a virtual node
// (test/real/virtual-kubelet), those over a one-node cluster (test/real/node), and the short form of those in a machine with systemd
// and cgroups of version 2 (test/real/machine).
// Where the machine cannot run a group of them, it says why, and a report says that they did not run: they are not passed.
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../structure/source-tree.ts';
import { noMachineReasons, whyNoMachineTests } from '../machine/support/why-no-machine.ts';
import { noVirtualKubeletReasons, whyNoVirtualKubelet } from '../virtual-kubelet/support/why-not.ts';
import { NodeKit } from './support/node-kit.ts';
import { groupsThatMayNotRun, type NotRunGroup, reportNotRun, testsReported } from './support/not-run.ts';
import { noKitReasons, whyNoKernelTests, whyNoKit } from './support/why-no-kit.ts';

/** How long the building of the kit may take. A first one takes about ten minutes on two cores. */
const kitBuildLimit = process.env.NODE_KIT_BUILD_LIMIT ?? '900';
/** How long the building of virtual-kubelet and of the tests may take. A first one takes about five minutes on two cores. */
const testsBuildLimit = process.env.VIRTUAL_KUBELET_BUILD_LIMIT ?? '600';
/** What `timeout` answers when the time is over. */
const timedOut = 124;
const reports = process.env.VITEST_JSON;

function exitCode(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const child = spawn(command, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit'] });
  child.once('error', reject);
  child.once('close', (code) => resolve(code ?? 1));
  return promise;
}

/** Builds what a group needs, in the time that there is for it. False: it could not be built. A text: why the group does not run. */
async function build(limitSeconds: string, command: readonly string[], late: string): Promise<boolean | string> {
  const code = await exitCode('timeout', ['--kill-after', '5', limitSeconds, ...command]);
  return code === timedOut ? late : code === 0;
}

/** Runs a group, and checks that it has as many tests as .ci/not-run.json says. */
async function runGroup(group: NotRunGroup, script: string, env: NodeJS.ProcessEnv = {}): Promise<boolean> {
  const folder = reports ?? (await mkdtemp(join(tmpdir(), 'reports-')));
  const before = await testsReported(folder);
  const code = await exitCode('npm', ['run', '--silent', script], { ...env, VITEST_JSON: folder });
  const count = (await testsReported(folder)) - before;
  if (reports === undefined) await rm(folder, { recursive: true });
  const { tests } = (await groupsThatMayNotRun())[group];
  if (code === 0 && count !== tests)
    console.error(`test/real/${group} has ${count} tests: write it in .ci/not-run.json, not ${tests}`);
  return code === 0 && count === tests;
}

async function runKernelTests(): Promise<boolean> {
  const reason = await whyNoKernelTests();
  if (reason === undefined) return runGroup('kernel', 'test:kernel');
  await reportNotRun(reports, 'kernel', reason);
  return true;
}

async function runVirtualKubeletTests(): Promise<boolean> {
  const builder = [process.execPath, join(root, 'test/real/virtual-kubelet/build.ts')];
  const built = (await whyNoVirtualKubelet()) ?? (await build(testsBuildLimit, builder, noVirtualKubeletReasons.time));
  if (typeof built === 'string') {
    await reportNotRun(reports, 'virtual-kubelet', built);
    return true;
  }
  return built && runGroup('virtual-kubelet', 'test:virtual-kubelet');
}

async function runNodeTests(kits: string): Promise<boolean> {
  const builder = [join(root, 'test/peers/node-kit/build.sh')];
  const built = (await whyNoKit()) ?? (await build(kitBuildLimit, builder, noKitReasons.time));
  if (typeof built === 'string') {
    await reportNotRun(reports, 'node', built);
    return true;
  }
  if (!built) console.error('the node kit was not built');
  return built && runGroup('node', 'test:node-short', { NODE_KIT_FOLDER: kits });
}

async function runMachineTests(): Promise<boolean> {
  const builder = [join(root, 'test/peers/node-kit/build.sh')];
  const built = (await whyNoMachineTests()) ?? (await build(kitBuildLimit, builder, noMachineReasons.time));
  if (typeof built === 'string') {
    await reportNotRun(reports, 'machine', built);
    return true;
  }
  return built && runGroup('machine', 'test:machine-short');
}

/** Ends what tests left that were ended themselves. */
async function endKits(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await NodeKit.end(join(folder, name));
  await rm(folder, { recursive: true, force: true });
}

const kits = await mkdtemp(join(tmpdir(), 'node-kits-'));
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => void endKits(kits).finally(() => process.exit(1)));
}
const passed = [await runKernelTests(), await runVirtualKubeletTests(), await runNodeTests(kits), await runMachineTests()];
await endKits(kits);
process.exitCode = passed.every(Boolean) ? 0 : 1;
