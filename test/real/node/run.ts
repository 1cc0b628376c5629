// `npm run test:node -- [FOCUS] [--list FILE]`: Kubernetes' own tests against a node whose agent is examples/kubelet.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import buildPackage from '../../support/build-setup.ts';
import { type E2EReport, runE2ETests, testNames, withMissing } from './support/e2e-tests.ts';
import { NodeKit, ownAgent, ownScheduler } from './support/node-kit.ts';
import { whyNoKit } from './support/why-no-kit.ts';

const help = `Usage: npm run test:node -- [FOCUS] [options]
  FOCUS            the tests whose names match this regular expression (default: those of test/real/node/passing.txt)
  --list FILE      the tests named in this file, one full name a line
  --skip REGEX     not the tests whose names match
  --procs N        so many at a time (default 8)
  --agent AGENT    "own" (examples/kubelet, the default), "kubelet" (the real one) or a shell command
  --scheduler S    "kube-scheduler" (the real one, the default), "own" (examples/scheduler) or a shell command
  --run DIR        the folder of the cluster (default: a new one, which is removed at the end)
  --keep           leaves the logs of the cluster and of the tests`;

const options = {
  list: { type: 'string' },
  skip: { type: 'string' },
  procs: { type: 'string', default: '8' },
  agent: { type: 'string', default: 'own' },
  scheduler: { type: 'string', default: 'kube-scheduler' },
  run: { type: 'string' },
  keep: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const passing = fileURLToPath(new URL('passing.txt', import.meta.url));

async function main(signal: AbortSignal): Promise<E2EReport | undefined> {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) {
    console.log(help);
    return undefined;
  }
  const [focus, ...rest] = positionals;
  if (rest.length > 0 || (focus !== undefined && values.list !== undefined))
    throw new Error(`give one FOCUS or one list\n${help}`);
  const procs = Number(values.procs);
  if (!Number.isInteger(procs) || procs < 1) throw new Error(`--procs must be a whole number from 1 up, got "${values.procs}"`);
  const reason = await whyNoKit();
  if (reason !== undefined) throw new Error(`the tests cannot run here: ${reason}`);
  const file = values.list === undefined ? passing : resolve(values.list);
  const wanted = focus === undefined ? await testNames(file) : [];
  const skip = values.skip === undefined ? undefined : new RegExp(values.skip);

  if (values.agent === 'own' || values.scheduler === 'own') await buildPackage();
  signal.throwIfAborted();
  const run = values.run === undefined ? await mkdtemp(join(tmpdir(), 'node-kit-')) : resolve(values.run);
  const out = `${run}-tests`;
  const agent = values.agent === 'own' ? ownAgent() : values.agent;
  const scheduler = values.scheduler === 'own' ? ownScheduler() : values.scheduler;
  const kit = await NodeKit.start({ run, agent, signal, ...(scheduler !== 'kube-scheduler' && { scheduler }) });
  try {
    const which = focus === undefined ? { list: file } : { focus };
    const report = await runE2ETests(kit, { ...which, ...(values.skip && { skip: values.skip }), procs, out, signal });
    return withMissing(
      report,
      wanted.filter((name) => !skip?.test(name)),
    );
  } finally {
    await kit.stop({ keep: values.keep });
    if (values.keep) console.log(`logs: ${run}, ${out}`);
    else await rm(out, { recursive: true, force: true });
  }
}

const ending = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => ending.abort(new Error(`ended by ${name}`)));
}
try {
  const report = await main(ending.signal);
  if (report !== undefined) {
    for (const { name, reason } of report.failed) console.log(`FAILED ${name}\n       ${reason}`);
    console.log(`${report.passed.length} passed, ${report.failed.length} failed`);
    process.exitCode = report.failed.length === 0 && report.passed.length > 0 ? 0 : 1;
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
