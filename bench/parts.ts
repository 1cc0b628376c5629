// npm run bench:parts [-- --rounds 5 --only informers|secrets]
// Measures the reflector beside the informers of client-go and client-node, and the secret manager beside the kubelet's.
import { parseArgs } from 'node:util';
import { ControlPlane } from '../test/support/control-plane/control-plane.ts';
import { compareInformers, informers } from './parts/informers.ts';
import { compareSecretManagers, secretManagers } from './parts/secrets.ts';
import { type Bar, machine, printBars, writeResult } from './support/results.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, only: { type: 'string' } } });
const rounds = Number(values.rounds);
const bars: Bar[] = [];
const result: Record<string, unknown> = { command: 'npm run bench:parts', rounds, machine: machine() };

function print(title: string, names: Readonly<Record<string, string>>, runs: Readonly<Record<string, object>>): void {
  console.log(`\n${title}`);
  console.table(Object.entries(runs).map(([name, run]) => ({ name: names[name], ...run })));
}

if (values.only !== 'secrets') {
  const workload = { pods: 10_000, events: 50_000 };
  const runs = await compareInformers(workload, rounds);
  print('10,000 pods, 50,000 events', informers, runs);
  result.informers = { ...workload, runs };
  const ratio = runs.ours.eventsASecond / runs.goJson.eventsASecond;
  bars.push({ what: 'events a second, ours to client-go with JSON', value: ratio, atLeast: 1 });
}

if (values.only !== 'informers') {
  const workload = { pods: 1000, secrets: 5 };
  await using controlPlane = await ControlPlane.start();
  const runs = await compareSecretManagers(controlPlane, workload, rounds);
  print('1,000 pods with 5 secrets each, one shared by all', secretManagers, runs);
  result.secrets = { ...workload, runs };
  for (const figure of ['seconds', 'cpuSeconds', 'requests', 'watches', 'connections', 'bytesReceived', 'bytesSent'] as const) {
    bars.push({
      what: `secrets: ${figure}, ours to the kubelet's`,
      value: runs.ours[figure] / runs.kubelet[figure],
      atMost: 1,
    });
  }
}

if (values.only === undefined) await writeResult('parts.json', JSON.stringify({ ...result, bars }, undefined, 2));
printBars(bars);
