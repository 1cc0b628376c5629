// npm run bench [-- --rounds 5 --pods 100,1000,10000]
// The CPU paths of this manager beside those of the Go manager, in turn, in processes of their own.
import { parseArgs } from 'node:util';
import { goTool } from '../test/support/go-tools.ts';
import { barChart } from './support/chart.ts';
import { type Bar, machine, printBars, writeResult } from './support/results.ts';
import { runJson, runScript } from './support/run-json.ts';
import { median, rounded } from './support/statistics.ts';

const metrics = ['bytesPerPod', 'changedUs', 'sameUs', 'readinessUs', 'getUs'] as const;
type Metric = (typeof metrics)[number];
type Measurement = Record<Metric, number>;
interface Comparison {
  readonly pods: number;
  readonly ours: Measurement;
  readonly oursWithDates: Measurement;
  readonly go: Measurement;
  /** Medians of the ratios of neighbours in time. */
  readonly ratio: Measurement;
}
interface BatchResult {
  readonly pods: number;
  readonly syncUs: number;
  readonly batchMs: number;
  readonly longestTurnMs: number;
  readonly requestsOfQuietBatches: number;
}

/** So many calls a measurement, whatever the number of pods: compiled code is measured against compiled code. */
const callsAMeasurement = 50_000;

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

async function compare(peer: string, pods: number): Promise<Comparison> {
  const repeats = Math.max(1, Math.round(callsAMeasurement / pods));
  const [ours, oursWithDates, go]: [Measurement[], Measurement[], Measurement[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    ours.push(await runScript<Measurement>('cpu/worker.ts', [pods, repeats]));
    go.push(await runJson<Measurement>(peer, ['-mode', 'cpu', '-pods', String(pods), '-rounds', String(repeats)]));
    oursWithDates.push(await runScript<Measurement>('cpu/worker.ts', [pods, repeats, 'dates']));
  }
  const ratio = mediansOf(ours.map((one, round) => ratioOf(one, go[round] as Measurement)));
  return { pods, ours: mediansOf(ours), oursWithDates: mediansOf(oursWithDates), go: mediansOf(go), ratio };
}

function barsOf(comparisons: readonly Comparison[], batch: BatchResult): Bar[] {
  const [few, many] = [comparisons[0], comparisons.at(-1)];
  if (few === undefined || many === undefined) return [];
  const growth = (metric: Metric): number => many.ours[metric] / few.ours[metric];
  return [
    { what: 'setPodStatus changed, ours/Go', value: many.ratio.changedUs, atMost: 1 },
    { what: 'setPodStatus unchanged, ours/Go', value: many.ratio.sameUs, atMost: 0.4 },
    { what: 'setContainerReadiness, ours/Go', value: many.ratio.readinessUs, atMost: 0.5 },
    { what: 'heap bytes a cached two-container pod', value: many.ours.bytesPerPod, atMost: 3000 },
    { what: `setPodStatus changed, ${many.pods}/${few.pods} pods`, value: growth('changedUs'), atMost: 1.5 },
    { what: `setPodStatus unchanged, ${many.pods}/${few.pods} pods`, value: growth('sameUs'), atMost: 1.5 },
    { what: `setContainerReadiness, ${many.pods}/${few.pods} pods`, value: growth('readinessUs'), atMost: 1.5 },
    { what: `longest turn of a batch over ${batch.pods} unchanged pods, ms`, value: batch.longestTurnMs, atMost: 10 },
    { what: `requests of ${rounds} quiet batches`, value: batch.requestsOfQuietBatches, atMost: 0 },
  ];
}

const panelTitles: readonly [Metric, string, string][] = [
  ['changedUs', 'setPodStatus, changed', 'µs'],
  ['sameUs', 'setPodStatus, unchanged', 'µs'],
  ['readinessUs', 'setContainerReadiness', 'µs'],
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
const comparisons: Comparison[] = [];
for (const pods of podCounts) comparisons.push(await compare(peer, pods));
const batches: BatchResult[] = [];
for (const pods of podCounts) batches.push(await runScript<BatchResult>('cpu/batch.ts', [pods, rounds]));
const functions = await runScript<{ name: string; medianUs: number }[]>('cpu/functions.ts', []);
const bars = barsOf(comparisons, batches.at(-1) as BatchResult);

const result = { command: 'npm run bench', rounds, machine: machine(), comparisons, batches, functions, bars };
await writeResult('cpu.json', JSON.stringify(result, undefined, 2));
await writeResult('cpu.svg', plot(comparisons));
for (const { pods, ours, go, ratio } of comparisons) {
  console.log(`\n${pods} pods`);
  console.table({ ours, 'Go manager': go, 'ours / Go': ratio });
}
console.table(batches);
console.table(functions.map(({ name, medianUs }) => ({ name, 'median µs': rounded(medianUs) })));
printBars(bars);
