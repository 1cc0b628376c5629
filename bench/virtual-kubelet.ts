// npm run bench:virtual-kubelet [-- --rounds 3 --pods 500 --singles 10 --only ours|rival]
// Measures a ProviderNode and virtual-kubelet with its mock in turn, on one real control plane: a pod's start and end, requests,
// processor and memory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { makeNetwork } from '../test/real/virtual-kubelet/support/own-network.ts';
import { AdminClient } from '../test/support/admin-client.ts';
import { goTool, serverBinaries } from '../test/support/go-tools.ts';
import { medians } from './parts/medians.ts';
import { machine, printBars, writeResult } from './support/results.ts';
import { AuditedControlPlane, accountsNamespace } from './virtual-kubelet/audited.ts';
import { barsOf } from './virtual-kubelet/bars.ts';
import { type NodeKind, nodes } from './virtual-kubelet/programs.ts';
import { measure, type NodeRound } from './virtual-kubelet/run.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    pods: { type: 'string', default: '500' },
    singles: { type: 'string', default: '10' },
    only: { type: 'string' },
  },
});
/** The variable that a run in a network of its own finds. */
const inside = 'BENCH_IN_OWN_NETWORK';
const rounds = Number(values.rounds);
const size = { pods: Number(values.pods), singles: Number(values.singles) };
const kinds = (Object.keys(nodes) as NodeKind[]).filter((kind) => values.only === undefined || values.only === kind);

// a kube-apiserver calls no node at a loopback address
if (process.env[inside] === undefined) {
  await serverBinaries();
  await goTool('virtual-kubelet');
  await goTool('kubectl');
  const again = spawn('unshare', ['--net', process.execPath, ...process.argv.slice(1)], {
    env: { ...process.env, [inside]: '1' },
    stdio: 'inherit',
  });
  const [code] = await once(again, 'close');
  process.exit(code ?? 1);
}
await makeNetwork();

await using server = await AuditedControlPlane.start();
const admin = new AdminClient(server.controlPlane.kubeConfig());
await admin.send('POST', '/api/v1/namespaces', { body: { metadata: { name: accountsNamespace } } });
await admin.close();

const runs: Record<NodeKind, NodeRound[]> = { ours: [], rival: [] };
for (let round = 0; round < rounds; round++) {
  // each goes first in as many rounds as the other
  for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
    const measured = await measure(server, kind, round, size);
    runs[kind].push(measured);
    console.error(`${nodes[kind]}: round ${round + 1} of ${rounds} ${JSON.stringify(measured)}`);
  }
}

const results = Object.fromEntries(
  kinds.map((kind) => [kind, { ...medians(runs[kind].map(({ run }) => run)), requests: runs[kind].at(-1)?.requests.kinds }]),
);
console.table(kinds.map((kind) => ({ name: nodes[kind], ...medians(runs[kind].map(({ run }) => run)) })));
if (values.only === undefined) {
  const bars = barsOf(medians(runs.ours.map(({ run }) => run)), medians(runs.rival.map(({ run }) => run)));
  const result = { command: 'npm run bench:virtual-kubelet', rounds, machine: machine(), ...size, runs: results, bars };
  await writeResult('virtual-kubelet.json', JSON.stringify(result, undefined, 2));
  printBars(bars);
}
