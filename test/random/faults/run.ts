// `npm run test:faults -- --seed S --minutes M`: the fault suite, for as long as you like. Exits with 1 on any damage.
import { parseArgs } from 'node:util';
import { type Mutant, mutants } from '../chaos/mutants.ts';
import { partsMutants } from '../chaos/parts/mutants.ts';
import { runFaults } from './fault-run.ts';
import type { FaultTarget } from './fault-target.ts';
import { InMemoryTarget } from './in-memory-target.ts';
import { catchOf, runMutants } from './mutant-run.ts';
import { runPartsCommand } from './parts/run-many.ts';
import { RealTarget } from './real-target.ts';
import { brokenRules, renderReport } from './report.ts';
import { TwoApiServersTarget } from './two-apiservers-target.ts';

const help = `Usage: npm run test:faults -- [options]
  --seed S         picks faults, updates and rivals; the same again for the same seed (default: another one each time)
  --minutes M      how long updates go on (default 2)
  --updates N      default 100000
  --pods N         default 500
  --server KIND    in-memory, real, two-apiservers, both (the first two) or all (default both)
  --mutant NAME    a manager broken on purpose; "all" runs each, with few pods and many faults, until it is caught: ${mutants.map(({ name }) => `"${name}"`).join(', ')}
  --parts          reflector, secret and config map managers and mirror pods in place of the status manager; --updates and
                   --pods do not count; its mutants: ${partsMutants.map(({ name }) => `"${name}"`).join(', ')}`;

const options = {
  seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
  minutes: { type: 'string', default: '2' },
  updates: { type: 'string', default: '100000' },
  pods: { type: 'string', default: '500' },
  server: { type: 'string', default: 'both' },
  mutant: { type: 'string' },
  parts: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function number(name: string, text: string): number {
  const value = Number(text);
  if (text === '' || !(value >= 0)) throw new Error(`--${name} must be a number, got "${text}"`);
  return value;
}

function mutantOf(name: string): Mutant {
  const mutant = mutants.find((each) => each.name === name);
  if (mutant === undefined) throw new Error(`no mutant is called "${name}"`);
  return mutant;
}

/** Runs every mutant until it is caught. Resolves to true when all were. */
async function catchAll(target: FaultTarget, seed: number): Promise<boolean> {
  let caught = 0;
  const reports = runMutants(target, mutants, seed);
  for (const mutant of mutants) {
    const report = await reports.get(mutant.name);
    const how = report && catchOf(mutant, report);
    if (how !== undefined) caught++;
    console.log(`${mutant.name}: ${how ? `“${how.rule}”, after ${(how.afterMs / 1000).toFixed(1)} s` : 'NOT CAUGHT'}`);
  }
  console.log(`${target.kind}, seed ${seed}: ${caught} of ${mutants.length} mutants caught`);
  return caught === mutants.length;
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  if (values.help) {
    console.log(help);
    return 0;
  }
  // quiet watches of an agent whose time is hasty stay open
  const inMemory = (): Promise<FaultTarget> => InMemoryTarget.start(values.parts ? { bookmarkIntervalMs: 2000 } : {});
  const targets: Record<string, (() => Promise<FaultTarget>)[]> = {
    'in-memory': [inMemory],
    real: [RealTarget.start],
    'two-apiservers': [() => TwoApiServersTarget.start()],
    both: [inMemory, RealTarget.start],
    all: [inMemory, RealTarget.start, () => TwoApiServersTarget.start()],
  };
  const chosen = targets[values.server];
  if (chosen === undefined) throw new Error(`--server must be one of ${Object.keys(targets).join(', ')}, got "${values.server}"`);
  let clean = true;
  for (const start of chosen) {
    await using target = await start();
    if (values.parts) {
      const [seed, minutes] = [number('seed', values.seed), number('minutes', values.minutes)];
      clean = (await runPartsCommand(target, { seed, minutes, mutant: values.mutant })) && clean;
      continue;
    }
    if (values.mutant === 'all') {
      clean = (await catchAll(target, number('seed', values.seed))) && clean;
      continue;
    }
    const report = await runFaults({
      target,
      seed: number('seed', values.seed),
      pods: number('pods', values.pods),
      updates: number('updates', values.updates),
      seconds: number('minutes', values.minutes) * 60,
      mutant: values.mutant === undefined ? undefined : mutantOf(values.mutant),
    });
    console.log(`${renderReport(report)}\n`);
    clean &&= brokenRules(report).length === 0;
  }
  return clean ? 0 : 1;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return 2;
});
