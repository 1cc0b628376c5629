// npm run bench:scheduler [-- --pods 6000 --rounds 15 --nodes 100,1000,5000]
// Schedules pods in memory with the default profile: how many a second, and how that grows with the number of nodes.
import { parseArgs } from 'node:util';
import { runScheduler, type SchedulerRun } from './scheduler/run.ts';
import { type Workload, workloads } from './scheduler/workloads.ts';
import { type Bar, machine, printBars, writeResult } from './support/results.ts';
import { median } from './support/statistics.ts';

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '6000' },
    rounds: { type: 'string', default: '15' },
    nodes: { type: 'string', default: '100,1000,5000' },
  },
});
const [pods, rounds] = [Number(values.pods), Number(values.rounds)];
const sizes = values.nodes.split(',').map(Number);
const names = Object.keys(workloads) as Workload[];

const runs = new Map<string, SchedulerRun[]>();
for (let round = 0; round < rounds; round++) {
  for (const workload of names) {
    for (const nodes of sizes) {
      const key = `${workload} ${nodes}`;
      runs.set(key, [...(runs.get(key) ?? []), await runScheduler(workload, nodes, pods)]);
    }
  }
}

const middle = (workload: Workload, nodes: number, figure: keyof SchedulerRun): number =>
  median((runs.get(`${workload} ${nodes}`) ?? []).map((run) => run[figure]));
const [smallest = 0] = sizes;
const table = names.flatMap((workload) =>
  sizes.map((nodes) => ({
    workload,
    nodes,
    podsASecond: Math.round(middle(workload, nodes, 'podsASecond')),
    cpuMicroseconds: Math.round(middle(workload, nodes, 'cpuMicroseconds')),
    timesSmallest: Number(
      (middle(workload, nodes, 'cpuMicroseconds') / middle(workload, smallest, 'cpuMicroseconds')).toFixed(2),
    ),
  })),
);
console.log(`${pods} pods, after 1000 others; medians of ${rounds} rounds`);
console.table(table);

const bars: Bar[] = [];
if (sizes.includes(100)) {
  bars.push({ what: 'plain pods a second on 100 nodes', value: middle('plain', 100, 'podsASecond'), atLeast: 3000 });
}
if (sizes.includes(100) && sizes.includes(5000)) {
  for (const workload of names) {
    const value = middle(workload, 5000, 'cpuMicroseconds') / middle(workload, 100, 'cpuMicroseconds');
    bars.push({ what: `${workload}: CPU of a pod, 5,000 nodes to 100`, value, atMost: 1.5 });
  }
}
await writeResult(
  'scheduler.json',
  JSON.stringify({ command: 'npm run bench:scheduler', pods, rounds, machine: machine(), table, bars }, undefined, 2),
);
printBars(bars);
