// npm run bench:node [-- --rounds 5 --only workers|virtual|rest]
// Measures pods through config and workers beside the kubelet's parts, a virtual node beside kwok, and a thousand nodes at rest.
import { parseArgs } from 'node:util';
import { ControlPlane } from '../test/support/control-plane/control-plane.ts';
import { barsOfVirtualNodes, barsOfWorkers } from './node/bars.ts';
import { compareNodesAtRest, waysOfWatching } from './node/nodes-at-rest.ts';
import { compareVirtualNodes, virtualNodes } from './node/virtual-nodes.ts';
import { comparePodWorkers, podWorkers } from './node/workers.ts';
import { type Bar, machine, printBars, writeResult } from './support/results.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, only: { type: 'string' } } });
const rounds = Number(values.rounds);
const bars: Bar[] = [];
const result: Record<string, unknown> = { command: 'npm run bench:node', rounds, machine: machine() };

function print(title: string, names: Readonly<Record<string, string>>, runs: Readonly<Record<string, object>>): void {
  console.log(`\n${title}`);
  console.table(Object.entries(runs).map(([name, run]) => ({ name: names[name], ...run })));
}

if (values.only === undefined || values.only === 'workers') {
  const pods = 10_000;
  const runs = await comparePodWorkers(pods, rounds);
  print('10,000 pods through config and workers', podWorkers, runs);
  result.workers = { pods, runs };
  bars.push(...barsOfWorkers(runs));
}

if (values.only === undefined || values.only === 'virtual') {
  const pods = 1000;
  await using controlPlane = await ControlPlane.start();
  const runs = await compareVirtualNodes(controlPlane, pods, rounds);
  print('1,000 pods created at once on a virtual node', virtualNodes, runs);
  result.virtualNodes = { pods, runs };
  bars.push(...barsOfVirtualNodes(runs));
}

if (values.only === undefined || values.only === 'rest') {
  const nodes = 1000;
  await using controlPlane = await ControlPlane.start();
  const runs = await compareNodesAtRest(controlPlane, nodes);
  print('1,000 nodes without pods in one process', waysOfWatching, runs);
  result.nodesAtRest = { nodes, runs };
}

if (values.only === undefined) await writeResult('node.json', JSON.stringify({ ...result, bars }, undefined, 2));
printBars(bars);
