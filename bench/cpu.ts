// npm run bench [-- --rounds 5 --pods 100,1000,10000]
// Measures the CPU paths of this manager and of the Go manager in turn, each in its own process.
import { parseArgs } from 'node:util';
import { goTool } from '../test/support/go-tools.ts';
import { type BatchResult, barsOf, type Comparison, type Measurement, type Metric, metrics } from './cpu/bars.ts';
import { barChart } from './support/chart.ts';
import { machine, printBars, writeResult } from './support/results.ts';
import { runJson, runScript } from './support/run-json.ts';
import { median, rounded } from './support/statistics.ts';

/** Calls in each measurement, whatever the number of pods, so that compiled code is compared with compiled code. */
const callsAMeasurement = 200_000;

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, pods: { type: 'string', default: '100,1000,10000' } },
});
const rounds = Number(values.rounds);
const podCounts = values.pods.split(',').map(Number);

function mediansOf(measurements: readonly Measurement[]): Measurement {
  const entries = metrics.map((metric) => [metric, rounded(median(measurements.map((one) => one[metric])))]);
  return Object.fromEntries(entries) as Measurement;
}

function ratioOf(ours: Measurement, go: Measurement): Measurement {
  return Object.fromEntries(metrics.map((metric) => [metric, ours[metric] / go[metric]])) as Measurement;
}

/** `walkUs`: microseconds to read the given and the cached status and do no more. Its growth shows the cost of memory. */
interface OurMeasurement extends Measurement {
  readonly walkUs: number;
}
interface Round {
  readonly ours: OurMeasurement;
  readonly oursWithDates: Measurement;
  readonly go: Measurement;
}

/** One measurement of each contender, right after one another. */
async function measure(peer: string, pods: number): Promise<Round> {
  const repeats = Math.max(1, Math.round(callsAMeasurement / pods));
  const ours = await runScript<OurMeasurement>('cpu/worker.ts', [pods, repeats]);
  const go = await runJson<Measurement>(peer, ['-mode', 'cpu', '-pods', String(pods), '-rounds', String(repeats)]);
  return { ours, go, oursWithDates: await runScript<Measurement>('cpu/worker.ts', [pods, repeats, 'dates']) };
}

function compare(pods: number, all: readonly Round[]): Comparison {
  return {
    pods,
    ours: mediansOf(all.map(({ ours }) => ours)),
    oursWithDates: mediansOf(all.map(({ oursWithDates }) => oursWithDates)),
    go: mediansOf(all.map(({ go }) => go)),
    ratio: mediansOf(all.map(({ ours, go }) => ratioOf(ours, go))),
  };
}

const panelTitles: readonly [Metric, string, string][] = [
  ['changedUs', 'setPodStatus, changed', 'µs'],
  ['sameUs', 'setPodStatus, unchanged', 'µs'],
  ['readinessUs', 'setContainerReadiness', 'µs'],
  ['getFirstUs', 'getPodStatus, first read of a status', 'µs'],
  ['getSecondUs', 'getPodStatus, second read', 'µs'],
  ['bytesPerPod', 'heap a cached pod', 'bytes'],
];

function plot(comparisons: readonly Comparison[]): string {
  return barChart(
    panelTitles.map(([metric, title, unit]) => ({
      title,
      unit,
      categories: comparisons.map(({ pods }) => `${pods} pods`),
      series: [
        { name: 'pod-status-manager', values: comparisons.map(({ ours }) => ours[metric]) },
        { name: 'kubelet (Go)', values: comparisons.map(({ go }) => go[metric]) },
        { name: 'pod-status-manager, given Dates', values: comparisons.map(({ oursWithDates }) => oursWithDates[metric]) },
      ],
    })),
  );
}

const peer = await goTool('peer');
const measured = podCounts.map((): Round[] => []);
// every round measures all sizes, so that growth is also a ratio within one round
for (let round = 0; round < rounds; round++) {
  for (const [index, pods] of podCounts.entries()) measured[index]?.push(await measure(peer, pods));
}
const comparisons = podCounts.map((pods, index) => compare(pods, measured[index] ?? []));
const [few = [], many = []] = [measured[0], measured.at(-1)];
const growth = mediansOf(many.map(({ ours }, round) => ratioOf(ours, few[round]?.ours ?? ours)));
const walkGrowth = rounded(median(many.map(({ ours }, round) => ours.walkUs / (few[round]?.ours ?? ours).walkUs)));
const batches: BatchResult[] = [];
for (const pods of podCounts) batches.push(await runScript<BatchResult>('cpu/batch.ts', [pods, rounds]));
const functions = await runScript<{ name: string; medianUs: number }[]>('cpu/functions.ts', []);
const bars = barsOf({ rounds, comparisons, growth, batches });

const result = {
  command: 'npm run bench',
  rounds,
  machine: machine(),
  comparisons,
  growth,
  walkGrowth,
  batches,
  functions,
  bars,
};
await writeResult('cpu.json', JSON.stringify(result, undefined, 2));
await writeResult('cpu.svg', plot(comparisons));
for (const { pods, ours, go, ratio } of comparisons) {
  console.log(`\n${pods} pods`);
  console.table({ ours, 'Go manager': go, 'ours / Go': ratio });
}
console.table(batches);
console.table(functions.map(({ name, medianUs }) => ({ name, 'median µs': rounded(medianUs) })));
console.log(`only reading the two statuses, ${podCounts.at(-1)}/${podCounts[0]} pods: ${walkGrowth}`);
printBars(bars);
