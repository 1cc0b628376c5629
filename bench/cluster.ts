// npm run bench:cluster [-- --rounds 5 --pods 100,500,2000]
// A real control plane; this manager, the Go manager and bare patches in turn. `npm run control-plane` has the binaries' story.
import { parseArgs } from 'node:util';
import { ControlPlane } from '../test/support/control-plane/control-plane.ts';
import { type Comparison, compare, type Server } from './cluster/compare.ts';
import { compareWidths } from './cluster/widths.ts';
import { barChart } from './support/chart.ts';

import { type Bar, machine, printBars, writeResult } from './support/results.ts';
import { runScript } from './support/run-json.ts';

interface Scenarios {
  readonly churn: { readonly requestsAChange: number };
  readonly lifecycle: { readonly requestsAChange: number };
  readonly quiet: { readonly total: number };
  readonly urgency: { readonly slots: readonly number[]; readonly delaysMs: readonly number[] };
}

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, pods: { type: 'string', default: '100,500,2000' } },
});
const rounds = Number(values.rounds);
const podCounts = values.pods.split(',').map(Number);
const qps = 50;

async function measure(server: Server): Promise<{ storms: Comparison[]; limited: Comparison; single: Comparison }> {
  const storms: Comparison[] = [];
  for (const pods of podCounts) {
    const contenders = ['ours', 'go', 'raw'] as const;
    storms.push(await compare(server, { mode: 'manager', pods, repeats: 3 }, { contenders, rounds }));
  }
  const contenders = ['ours', 'go'] as const;
  const single = await compare(server, { mode: 'latency', pods: 100, repeats: 10 }, { contenders, rounds });
  // with a limit it is the limit that is measured: one round tells
  const limited = await compare(server, { mode: 'manager', pods: 500, repeats: 2, qps }, { contenders, rounds: 1 });
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
    churn: await play('churn', 200, 5),
    lifecycle: await play('lifecycle', 100, 1),
    quiet: await play('quiet', 1000, 5),
    urgency: await play('urgency', 1000, 5, ['--qps', String(qps)]),
  };
}

function barsOf({ storms, limited, single }: Awaited<ReturnType<typeof measure>>, scenarios: Scenarios): Bar[] {
  const large = storms.filter(({ pods }) => pods >= 500);
  const { ours } = limited.results;
  return [
    ...large.map(({ pods, goToOursSeconds }) => ({
      what: `${pods} pods set at once, Go manager's time / ours`,
      value: goToOursSeconds ?? Number.NaN,
      atLeast: 2.2,
    })),
    ...large.map(({ pods, oursToRawSeconds }) => ({
      what: `${pods} pods set at once, ours / bare patches`,
      value: oursToRawSeconds ?? Number.NaN,
      atMost: 1.15,
    })),
    ...large.map(({ pods, results }) => ({
      what: `requests a change, storm of ${pods}`,
      value: results.ours?.requestsAnUpdate ?? Number.NaN,
      atMost: 1.02,
    })),
    { what: 'requests a change, churn', value: scenarios.churn.requestsAChange, atMost: 1.02 },
    { what: 'requests a change, lifecycle', value: scenarios.lifecycle.requestsAChange, atMost: 1.02 },
    { what: 'requests of five quiet batches, 1000 pods', value: scenarios.quiet.total, atMost: 0 },
    { what: 'single update, p50 from set to watch event, ours/Go', value: single.oursToGoP50 ?? Number.NaN, atMost: 0.85 },
    ...large.map(({ pods, oursToGoCpu }) => ({
      what: `client CPU an update, storm of ${pods}, ours/Go`,
      value: oursToGoCpu ?? Number.NaN,
      atMost: 0.75,
    })),
    { what: `updates a second under ${qps} qps`, value: limited.pods / (ours?.seconds ?? Number.NaN), atLeast: 49 },
    { what: 'request slots an urgent change waits for, behind 1000', value: Math.max(...scenarios.urgency.slots), atMost: 3 },
  ];
}

const names = { ours: 'pod-status-manager', go: 'kubelet (Go)', raw: 'bare patches (Go)' } as const;

function plot({ storms, single }: { storms: readonly Comparison[]; single: Comparison }): string {
  const series = (value: (one: Comparison, contender: keyof typeof names) => number, contenders: (keyof typeof names)[]) =>
    contenders.map((contender) => ({ name: names[contender], values: storms.map((one) => value(one, contender)) }));
  const categories = storms.map(({ pods }) => `${pods} pods`);
  const all: (keyof typeof names)[] = ['ours', 'go', 'raw'];
  return barChart([
    { title: 'All pods set at once', unit: 's', categories, series: series((one, who) => one.results[who]?.seconds ?? 0, all) },
    {
      title: 'Client CPU an update',
      unit: 'ms',
      categories,
      series: series((one, who) => one.results[who]?.cpuMsAnUpdate ?? 0, all),
    },
    {
      title: 'Requests an update',
      unit: 'requests',
      categories,
      series: series((one, who) => one.results[who]?.requestsAnUpdate ?? 0, all),
    },
    {
      title: 'One update at a time, set to watch event',
      unit: 'ms',
      categories: ['p50', 'p99'],
      series: (['ours', 'go'] as const).map((who) => ({
        name: names[who],
        values: [single.results[who]?.p50ms ?? 0, single.results[who]?.p99ms ?? 0],
      })),
    },
  ]);
}

await using controlPlane = await ControlPlane.start();
const measured = await measure(controlPlane);
const scenarios = await playScenarios(controlPlane);
const concurrency = await compareWidths(controlPlane, 500, rounds);
const bars = barsOf(measured, scenarios);
const result = { command: 'npm run bench:cluster', rounds, machine: machine(), ...measured, scenarios, concurrency, bars };
await writeResult('cluster.json', JSON.stringify(result, undefined, 2));
await writeResult('cluster.svg', plot(measured));
for (const comparison of [...measured.storms, measured.limited, measured.single]) {
  const { mode, pods, qps: limit, results, ...ratios } = comparison;
  console.log(
    `\n${mode === 'latency' ? 'one at a time' : 'all at once'}, ${pods} pods${limit === undefined ? '' : `, ${limit} qps`}`,
  );
  console.table(
    Object.entries(results).map(([name, run]) => ({
      name,
      seconds: run.seconds,
      'CPU ms an update': run.cpuMsAnUpdate,
      'requests an update': run.requestsAnUpdate,
      'p50 ms': run.p50ms,
      'p99 ms': run.p99ms,
    })),
  );
  console.log(JSON.stringify(ratios));
}
console.table(concurrency);
printBars(bars);
