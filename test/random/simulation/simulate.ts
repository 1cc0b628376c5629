import { parseArgs } from 'node:util';
import { mutants } from '../chaos/mutants.ts';
import { partsMutants } from '../chaos/parts/mutants.ts';
import { agentsKind } from './agents/agents-kind.ts';
import { fleetsKind } from './fleet/fleets-kind.ts';
import { wholeFleetsKind } from './fleet/whole/whole-fleets-kind.ts';
import { catchMutant } from './mutant-run.ts';
import { nodesKind } from './node/nodes-kind.ts';
import { runObjects } from './objects/run-objects.ts';
import { partsKind } from './parts/parts-kind.ts';
import { simulateMany } from './seeded-runs.ts';
import { type SimulationOptions, type SimulationResult, simulate } from './simulation.ts';
import { commandFor, Tally } from './tally.ts';

const usage = `Runs the manager against the in-memory store over a simulated network, in virtual time.

  npm run simulate -- --seed S [--hours H | --minutes M] [--seeds N] [--verbose] [--mutant NAME]
  npm run simulate -- --parts ...   the same with reflector, secret and config map managers and mirror pods in its place; then
                managers of secrets against a server that keeps every version
  npm run simulate -- --nodes ...   whole nodes in its place: sources, workers, probes, status manager, mirror pods, on a
                simulated container runtime; agents crash and begin anew
  npm run simulate -- --agents ...  whole node agents in its place, with volumes, images and everything, on a container
                runtime in memory; agents crash and begin anew
  npm run simulate -- --fleets ...  the members of a fleet in its place, which share 5,000 nodes of 30 pods through Leases: processes
                that are paused, crash and come back, each with a clock and a network of its own; the nodes are modelled
  npm run simulate -- --whole-fleets ...  whole NodeFleets with a few nodes in its place: what --fleets models is the real thing

  --seed S      the first seed (default 1)
  --seeds N     how many seeds, from S on (default 1)
  --minutes M   simulated minutes of faults in each run (default 6); some minutes of calm follow
  --hours H     the same in hours
  --verbose     print every step
  --mutant M    a manager broken on purpose; "all" runs each until it is caught, and says by what: ${mutants.map(({ name }) => `"${name}"`).join(', ')}
                with --parts: ${partsMutants.map(({ name }) => `"${name}"`).join(', ')}
                with --nodes: ${nodesKind.mutants.map(({ name }) => `"${name}"`).join(', ')}
                with --agents: ${agentsKind.mutants.map(({ name }) => `"${name}"`).join(', ')}
                with --fleets: ${fleetsKind.mutants.map(({ name }) => `"${name}"`).join(', ')}
                with --whole-fleets: ${wholeFleetsKind.mutants.map(({ name }) => `"${name}"`).join(', ')}
`;

/** How many steps before a failure are printed. */
const lastSteps = 60;

function positive(name: string, text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new TypeError(`--${name} takes a number larger than 0, not ${text}`);
}

const progressEvery = 500;

/** Runs the failed seed again, with its steps: the same seed breaks at the same step. */
async function showFailure(options: SimulationOptions, failed: SimulationResult): Promise<void> {
  const lines: string[] = [];
  await simulate({
    ...options,
    onStep: (line) => {
      lines.push(line);
      if (lines.length > lastSteps) lines.shift();
    },
  });
  const { violation } = failed;
  console.log(`\nseed ${failed.seed} breaks the rule “${violation?.rule}”\n  ${violation?.detail}\n`);
  console.log(`the last ${lines.length} of ${failed.steps} steps:\n${lines.join('\n')}\n`);
  console.log(`to see it again, step by step:\n  ${commandFor(options)}\n`);
}

/** Runs every mutant until it is caught. Returns the exit code. */
async function catchAll(firstSeed: number): Promise<number> {
  let survivors = 0;
  for (const mutant of mutants) {
    const { rule, seeds, simulatedMs } = await catchMutant(mutant, firstSeed);
    const how = rule === undefined ? 'NOT CAUGHT' : mutant.breaks.includes(rule) ? `“${rule}”` : `WRONG RULE “${rule}”`;
    if (rule === undefined || !mutant.breaks.includes(rule)) survivors++;
    console.log(`${mutant.name}: ${how}, run ${seeds}, after ${Math.round(simulatedMs / 1000)} simulated s`);
  }
  console.log(`${mutants.length - survivors} of ${mutants.length} mutants caught`);
  return survivors === 0 ? 0 : 1;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      seeds: { type: 'string' },
      hours: { type: 'string' },
      minutes: { type: 'string' },
      mutant: { type: 'string' },
      verbose: { type: 'boolean', default: false },
      parts: { type: 'boolean', default: false },
      nodes: { type: 'boolean', default: false },
      agents: { type: 'boolean', default: false },
      fleets: { type: 'boolean', default: false },
      'whole-fleets': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const first = positive('seed', values.seed, 1);
  const seeds = positive('seeds', values.seeds, 1);
  const minutes = values.hours === undefined ? positive('minutes', values.minutes, 6) : 60 * positive('hours', values.hours, 1);
  const onStep = values.verbose ? (line: string) => console.log(line) : undefined;
  const runs = { first, seeds, minutes, mutant: values.mutant, onStep };
  if (values.nodes) return simulateMany(nodesKind, runs);
  if (values.agents) return simulateMany(agentsKind, runs);
  if (values.fleets) return simulateMany(fleetsKind, runs);
  if (values['whole-fleets']) return simulateMany(wholeFleetsKind, runs);
  if (values.parts) {
    const code = await simulateMany(partsKind, runs);
    if (values.mutant !== undefined) return code;
    return (await runObjects({ firstSeed: first, seeds, minutes, onStep })) === 0 ? code : 1;
  }
  if (values.mutant === 'all') return catchAll(first);
  const mutant = mutants.find(({ name }) => name === values.mutant);
  if (values.mutant !== undefined && mutant === undefined) throw new TypeError(`no mutant is called "${values.mutant}"`);
  const tally = new Tally();
  for (let seed = first; seed < first + seeds; seed++) {
    const options: SimulationOptions = { seed, minutes, mutant, onStep };
    const result = await simulate(options);
    tally.add(result);
    if ((seed - first + 1) % progressEvery === 0)
      console.error(`${seed - first + 1} of ${seeds} seeds, ${tally.failures} failures`);
    if (result.violation !== undefined) await showFailure(options, result);
  }
  console.log(tally.summary());
  return tally.failures === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
