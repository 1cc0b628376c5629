// npm run bench:cluster [-- --rounds 5 --pods 100,500,2000]
// Measures this manager, the Go manager (with protobuf and with JSON) and bare patches in turn, on a real control plane.
// It builds the control plane's binaries as `npm run control-plane` does.
import { parseArgs } from 'node:util';
import { ControlPlane } from '../test/support/control-plane/control-plane.ts';
import { barsOf, type Measured, type Scenarios } from './cluster/bars.ts';
import { type Comparison, compare, type Server } from './cluster/compare.ts';
import { type Contender, namesOfContenders } from './cluster/contenders.ts';
import { plot } from './cluster/plot.ts';
import { compareWidths } from './cluster/widths.ts';
import { machine, printBars, writeResult } from './support/results.ts';
import { runScript } from './support/run-json.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, pods: { type: 'string', default: '100,500,2000' } },
});
const rounds = Number(values.rounds);
const podCounts = values.pods.split(',').map(Number);
const qps = 50;
const churnPods = 200;

async function measure(server: Server): Promise<Measured> {
  const storms: Comparison[] = [];
  for (const pods of podCounts) {
    storms.push(await compare(server, { mode: 'manager', pods, repeats: 3 }, { rounds, withRaw: true }));
  }
  const single = await compare(server, { mode: 'latency', pods: 100, repeats: 10 }, { rounds });
  // with a limit the measurement shows the limit: one round is enough
  const limited = await compare(server, { mode: 'manager', pods: 500, repeats: 2, qps }, { rounds: 1 });
  return { storms, limited, single };
}

async function playScenarios(server: Server): Promise<Scenarios> {
  process.env.BENCH_TOKEN = server.token;
  const play = <Name extends keyof Scenarios>(mode: Name, pods: number, repeats: number, more: readonly string[] = []) =>
    runScript<Scenarios[Name]>('cluster/scenarios.ts', [
      ...['--mode', mode, '--server', server.url, '--pods', pods, '--rounds', repeats],
      ...more,
    ]);
  return {
    churn: await play('churn', churnPods, 5),
    churnTwice: await play('churnTwice', churnPods, 5),
    lifecycle: await play('lifecycle', 100, 1),
    quiet: await play('quiet', 1000, 5),
    urgency: await play('urgency', 1000, 5, ['--qps', String(qps)]),
  };
}

function print({ mode, pods, qps: limit, results, ratios, oursToRawSeconds }: Comparison): void {
  const what = mode === 'latency' ? 'one at a time' : 'all at once';
  console.log(`\n${what}, ${pods} pods${limit === undefined ? '' : `, ${limit} qps`}`);
  console.table(
    Object.entries(results).map(([contender, run]) => ({
      name: namesOfContenders[contender as Contender],
      seconds: run.seconds,
      'CPU ms an update': run.cpuMsAnUpdate,
      'requests an update': run.requestsAnUpdate,
      'p50 ms': run.p50ms,
      'p99 ms': run.p99ms,
    })),
  );
  console.log(JSON.stringify({ ...ratios, oursToRawSeconds }));
}

await using controlPlane = await ControlPlane.start();
const measured = await measure(controlPlane);
const scenarios = await playScenarios(controlPlane);
const concurrency = await compareWidths(controlPlane, 500, rounds);
const bars = barsOf(measured, scenarios, churnPods);
const result = { command: 'npm run bench:cluster', rounds, machine: machine(), ...measured, scenarios, concurrency, bars };
await writeResult('cluster.json', JSON.stringify(result, undefined, 2));
await writeResult('cluster.svg', plot(measured));
for (const comparison of [...measured.storms, measured.limited, measured.single]) print(comparison);
console.table(concurrency);
printBars(bars);
