// `node test/real/machine/node-tests.ts [FOCUS] [--list FILE] [--driver D] [--agent A]`: Kubernetes' own tests against a node in the
// machine: cgroups of version 2, made by systemd where the driver is systemd. The package must have been built (npm run build).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { testNames, withMissing } from '../node/support/e2e-tests.ts';
import { MachineKit } from './support/machine-kit.ts';
import { buildForMachine, type CgroupDriver, type MachineAgent } from './support/machine-node.ts';

const options = {
  list: { type: 'string', default: fileURLToPath(new URL('../node/short.txt', import.meta.url)) },
  driver: { type: 'string', default: 'systemd' },
  agent: { type: 'string', default: 'own' },
  procs: { type: 'string', default: '2' },
} as const;

const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [focus, ...rest] = positionals;
const drivers: readonly string[] = ['systemd', 'cgroupfs'] satisfies CgroupDriver[];
const agents: readonly string[] = ['own', 'kubelet'] satisfies MachineAgent[];
if (rest.length > 0 || !drivers.includes(values.driver) || !agents.includes(values.agent)) {
  console.error(`Give at most one FOCUS, a driver of ${drivers}, and an agent of ${agents}`);
  process.exit(2);
}
const list = resolve(values.list);
const out = await mkdtemp(join(tmpdir(), 'machine-tests-'));
await buildForMachine(values.agent === 'kubelet' ? ['--kubelet'] : []);
const kit = await MachineKit.start(values.driver as CgroupDriver, values.agent as MachineAgent);
try {
  const which = focus === undefined ? { list } : { focus };
  const report = await kit.runTests({ ...which, procs: Number(values.procs), out });
  const { passed, failed } = withMissing(report, focus === undefined ? await testNames(list) : []);
  for (const { name, reason } of failed) console.log(`FAILED ${name}\n       ${reason}`);
  console.log(`${passed.length} passed, ${failed.length} failed`);
  process.exitCode = failed.length === 0 && passed.length > 0 ? 0 : 1;
  if (failed.length === 0) await rm(out, { recursive: true });
  else console.log(`logs: ${out}\n${await kit.agentLog()}`);
} finally {
  await kit.stop();
}
