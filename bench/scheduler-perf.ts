// npm run bench:scheduler-perf [-- --nodes 5000 --workloads SchedulingBasic,Unschedulable --rounds 1 --only kubeScheduler,ours --minutes 240]
// Workloads of Kubernetes' scheduler_perf: by upstream's own harness, by kube-scheduler and by our scheduler on a real control plane
// each, and by our scheduler in memory. It needs Go, and the node kit's kube-scheduler (test/peers/node-kit/build.sh).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { preparePrograms } from './scheduler-cluster/contenders.ts';
import { barsOf } from './scheduler-perf/bars.ts';
import { chosenCases } from './scheduler-perf/chosen.ts';
import { runOnCluster } from './scheduler-perf/on-cluster.ts';
import { runUpstream, upstreamFolder } from './scheduler-perf/on-upstream.ts';
import { type Column, columns, namesOfColumns, type PerfRun } from './scheduler-perf/run.ts';
import { type PerfWorkload, readWorkload } from './scheduler-perf/workload.ts';
import { machine, printBars, writeResult } from './support/results.ts';
import { runScript } from './support/run-json.ts';
import { median, rounded } from './support/statistics.ts';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '500' },
    workloads: { type: 'string', default: Object.keys(chosenCases).join(',') },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string', default: columns.join(',') },
    minutes: { type: 'string', default: '240' },
  },
});
const [nodes, rounds] = [Number(values.nodes), Number(values.rounds)];
const names = values.workloads.split(',');
const chosen = columns.filter((column) => values.only.split(',').includes(column));
const until = performance.now() + Number(values.minutes) * 60_000;

const folder = await upstreamFolder();
const programs = await preparePrograms();
const workloads = await Promise.all(names.map(readOne));
const runs = new Map<string, PerfRun[]>();
const failures: string[] = [];
for (let round = 0; round < rounds; round++) {
  const order = round % 2 === 0 ? chosen : chosen.toReversed();
  for (const workload of workloads) for (const column of order) await play(round, workload, column);
}

await rm(programs.dir, { recursive: true, force: true });

const found = workloads.map(({ name, params }) => {
  const result = Object.fromEntries(chosen.flatMap((column) => mediansOf(name, column)));
  return { name, params, result: result as Partial<Record<Column, PerfRun>> };
});
const bars = found.flatMap(({ name, result }) => barsOf(name, result));
for (const { name, params, result } of found) {
  console.log(`\n${name}: ${JSON.stringify(params)}, median of ${rounds}`);
  console.table(Object.entries(result).map(([column, run]) => ({ name: namesOfColumns[column as Column], ...rowOf(run) })));
}
for (const failure of failures) console.log(failure);
printBars(bars);
if (failures.length > 0) process.exitCode = 1;
if (chosen.length === columns.length && names.length === Object.keys(chosenCases).length && failures.length === 0) {
  const command = `npm run bench:scheduler-perf -- --nodes ${nodes} --rounds ${rounds}`;
  await writeResult(
    'scheduler-perf.json',
    JSON.stringify({ command, rounds, machine: machine(), nodes, found, bars }, undefined, 2),
  );
}

function readOne(name: string): Promise<PerfWorkload> {
  const one = chosenCases[name];
  if (one === undefined) throw new Error(`There is no workload ${name}: there are ${Object.keys(chosenCases).join(', ')}`);
  return readWorkload(folder, name, one, nodes);
}

/** A run that fails is told of, and the others go on. */
async function play(round: number, workload: PerfWorkload, column: Column): Promise<void> {
  const what = `round ${round + 1}: ${workload.name}, ${namesOfColumns[column]}`;
  if (performance.now() > until) {
    failures.push(`${what}: there was no time left`);
    return;
  }
  try {
    const run = await runColumn(workload, column);
    const key = `${workload.name} ${column}`;
    runs.set(key, [...(runs.get(key) ?? []), run]);
    console.log(`${what}: ${JSON.stringify(rowOf(run))}`);
  } catch (error) {
    failures.push(`${what}: ${error instanceof Error ? error.message : error}`);
    console.log(failures.at(-1));
  }
}

function runColumn(workload: PerfWorkload, column: Column): Promise<PerfRun> {
  if (column === 'schedulerPerf') return runUpstream(workload);
  return column === 'memory' ? inMemory(workload) : runOnCluster(workload, column, programs);
}

/** In a process of its own, so that no other run is in its heap. */
async function inMemory({ steps }: PerfWorkload): Promise<PerfRun> {
  const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-steps-'));
  try {
    await writeFile(join(dir, 'steps.json'), JSON.stringify(steps));
    return await runScript<PerfRun>('scheduler-perf/memory-worker.ts', [join(dir, 'steps.json')], 25 * 60_000);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function rowOf({ throughput, ...figures }: PerfRun): Readonly<Record<string, number>> {
  const shown = { ...throughput, ...figures };
  return Object.fromEntries(
    Object.entries(shown).flatMap(([key, value]) => (value === undefined ? [] : [[key, rounded(value)]])),
  );
}

/** None where no run came to its end. A figure that one of them lacks is left out. */
function mediansOf(name: string, column: Column): [Column, PerfRun][] {
  const all = runs.get(`${name} ${column}`) ?? [];
  if (all.length === 0) return [];
  const of = (value: (run: PerfRun) => number | undefined): number | undefined => {
    const known = all.map(value).filter((one) => one !== undefined);
    return known.length < all.length ? undefined : rounded(median(known));
  };
  const [average, p50, p90, p99] = (['average', 'p50', 'p90', 'p99'] as const).map((key) => of((run) => run.throughput?.[key]));
  const others = (['createdASecond', 'cpuMsAPod', 'memoryMiB'] as const).flatMap((key) => {
    const value = of((run) => run[key]);
    return value === undefined ? [] : [[key, value]];
  });
  const run: PerfRun = {
    ...(average !== undefined && { throughput: { average, p50: p50 ?? 0, p90: p90 ?? 0, p99: p99 ?? 0 } }),
    podsASecond: of((each) => each.podsASecond) ?? 0,
    ...Object.fromEntries(others),
  };
  return [[column, run]];
}
