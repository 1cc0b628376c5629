// npm run bench:node [-- --rounds 5 --only workers|virtual]
// Measures pods through config and workers beside the kubelet's parts, and a virtual node beside kwok.
import { parseArgs } from 'node:util';
import { ControlPlane } from '../test/support/control-plane/control-plane.ts';
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

if (values.only !== 'virtual') {
  const pods = 10_000;
  const runs = await comparePodWorkers(pods, rounds);
  print('10,000 pods through config and workers', podWorkers, runs);
  result.workers = { pods, runs };
  bars.push(
    { what: 'pods a second, created, ours to Go', value: runs.ours.createdASecond / runs.kubelet.createdASecond, atLeast: 1 },
    { what: 'pods a second, changed, ours to Go', value: runs.ours.changedASecond / runs.kubelet.changedASecond, atLeast: 1 },
    { what: 'one of 10,000 changed, ours to Go', value: runs.ours.oneChangedMs / runs.kubelet.oneChangedMs, atMost: 1 },
    { what: 'bytes a pod, ours to Go', value: runs.ours.bytesPerPod / runs.kubelet.bytesPerPod, atMost: 1 },
  );
}

if (values.only !== 'workers') {
  const pods = 1000;
  await using controlPlane = await ControlPlane.start();
  const runs = await compareVirtualNodes(controlPlane, pods, rounds);
  print('1,000 pods created at once on a virtual node', virtualNodes, runs);
  result.virtualNodes = { pods, runs };
  bars.push({ what: 'seconds until all are Ready, ours to kwok', value: runs.ours.seconds / runs.kwok.seconds, atMost: 1 });
}

if (values.only === undefined) await writeResult('node.json', JSON.stringify({ ...result, bars }, undefined, 2));
printBars(bars);
