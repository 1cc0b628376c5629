// npm run bench:metrics [-- --rounds 5 --pods 1000]
// What metrics cost: setPodStatus and a patch without a sink, with an empty one, with prom-client and with OpenTelemetry.
import { parseArgs } from 'node:util';
import { type SinkName, sinkNames } from './metrics/sinks.ts';
import { machine, printBars, writeResult } from './support/results.ts';
import { runScript } from './support/run-json.ts';
import { median, rounded } from './support/statistics.ts';

interface Measurement {
  readonly setUs: number;
  readonly patchUs: number;
  /** One collection of all metrics, with a look at every pod. */
  readonly collectMs: number;
}
type Round = Record<SinkName, Measurement>;

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, pods: { type: 'string', default: '1000' } },
});
const [rounds, pods] = [Number(values.rounds), Number(values.pods)];
const changes = 40;

const measured: Round[] = [];
for (let round = 0; round < rounds; round++) {
  const each = {} as Round;
  for (const sink of sinkNames) each[sink] = await runScript<Measurement>('metrics/worker.ts', [sink, pods, changes]);
  measured.push(each);
}

const of = (value: (round: Round) => number): number => rounded(median(measured.map(value)));
const rows = sinkNames.map((sink) => ({
  sink,
  'setPodStatus, µs': of((round) => round[sink].setUs),
  'against none': of((round) => round[sink].setUs / round.none.setUs),
  'patch, µs': of((round) => round[sink].patchUs),
  'against none ': of((round) => round[sink].patchUs / round.none.patchUs),
  [`collection of ${pods} pods, ms`]: of((round) => round[sink].collectMs),
}));
const both = ({ setUs, patchUs }: Measurement): number => setUs + patchUs;
const bars = [
  {
    what: 'setPodStatus and patch, prom-client/none',
    value: of((round) => both(round['prom-client']) / both(round.none)),
    atMost: 1.3,
  },
  {
    what: 'setPodStatus and patch, OpenTelemetry/none',
    value: of((round) => both(round.OpenTelemetry) / both(round.none)),
    atMost: 1.4,
  },
];
await writeResult(
  'metrics.json',
  JSON.stringify({ command: 'npm run bench:metrics', rounds, pods, machine: machine(), rows, bars }, undefined, 2),
);
console.table(rows);
printBars(bars);
