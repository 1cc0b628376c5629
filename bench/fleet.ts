// npm run bench:fleet [-- --nodes 1000 --pods 30 --rest 120 --sizes 1000,3000,10000 --only fleet,kwok,kwokShared,split,memory]
// Measures virtual nodes that four processes share beside kwok, one contender after another, each on a real control plane of its own; then
// how a fleet's memory and processor time grow with its nodes, over the apiserver in memory. What --only leaves out stays in the
// results with the time of its own run, and nothing of two runs is compared; runs of another size are printed alone.
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { barsBesideKwok, barsOfMemory, barsOfOwnership } from './fleet/bars.ts';
import { type Contender, contenders } from './fleet/contenders.ts';
import type { InMemoryRun } from './fleet/in-memory.ts';
import { plot } from './fleet/plot.ts';
import { type ContenderRun, type FleetSize, runContender } from './fleet/run.ts';
import { machine, printBars, writeResult } from './support/results.ts';
import { runScript } from './support/run-json.ts';

/** Which start of this command measured it, and for how long it was at rest. */
interface Origin {
  readonly runOf: string;
  readonly restSeconds: number;
}

interface Results {
  readonly runs: Partial<Record<Contender, ContenderRun & Origin>>;
  readonly inMemory: readonly (InMemoryRun & Pick<Origin, 'runOf'>)[];
}

const written = { nodes: 1000, podsOnEach: 30, restSeconds: 120 } as const satisfies FleetSize;
const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: String(written.nodes) },
    pods: { type: 'string', default: String(written.podsOnEach) },
    rest: { type: 'string', default: String(written.restSeconds) },
    sizes: { type: 'string', default: '1000,3000,10000' },
    only: { type: 'string', default: 'fleet,kwok,kwokShared,split,memory' },
  },
});
const size: FleetSize = { nodes: Number(values.nodes), podsOnEach: Number(values.pods), restSeconds: Number(values.rest) };
const only = values.only.split(',');
const isWritten = size.nodes === written.nodes && size.podsOnEach === written.podsOnEach;
const longestMs = 1_800_000;
const runOf = new Date().toISOString();

async function resultsBefore(): Promise<Results> {
  const text = await readFile(new URL('./results/fleet.json', import.meta.url), 'utf8').catch(() => '{}');
  const { runs = {}, inMemory = [] } = JSON.parse(text) as Partial<Results>;
  return isWritten ? { runs, inMemory } : { runs: {}, inMemory: [] };
}

async function save({ runs, inMemory }: Results): Promise<void> {
  const result = {
    command: 'npm run bench:fleet',
    machine: machine(),
    nodes: size.nodes,
    podsOnEach: size.podsOnEach,
    runs,
    inMemory,
    bars: barsOf({ runs, inMemory }),
  };
  await writeResult('fleet.json', JSON.stringify(result, undefined, 2));
  await writeResult('fleet.svg', plot(runs));
}

function barsOf({ runs: { fleet, kwok }, inMemory }: Results) {
  return [
    ...(fleet === undefined || fleet.runOf !== kwok?.runOf ? [] : barsBesideKwok(fleet, kwok)),
    ...(fleet === undefined ? [] : barsOfOwnership(fleet)),
    ...barsOfMemory(inMemory),
  ];
}

let { runs, inMemory } = await resultsBefore();
for (const name of (Object.keys(contenders) as Contender[]).filter((one) => only.includes(one))) {
  const run = await runContender(name, size);
  console.log(name, JSON.stringify(run, undefined, 1));
  runs = { ...runs, [name]: { runOf, restSeconds: size.restSeconds, ...run } };
  if (isWritten) await save({ runs, inMemory });
}
if (only.includes('memory')) {
  inMemory = [];
  for (const nodes of values.sizes.split(',').map(Number)) {
    const run = await runScript<InMemoryRun>('fleet/in-memory.ts', [nodes, size.podsOnEach], longestMs);
    console.log(JSON.stringify(run));
    inMemory = [...inMemory, { runOf, ...run }];
  }
  if (isWritten) await save({ runs, inMemory });
}
printBars(barsOf({ runs, inMemory }));
