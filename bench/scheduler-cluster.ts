// npm run bench:scheduler-cluster [-- --rounds 5 --only kubeScheduler|ours|bareBindings --nodes 200 --pods 2000 --rate 50]
// Measures kube-scheduler, our scheduler and bare bindings in turn, each as a process of its own, on one real control plane. The two
// have one configuration, with a limit of requests so high that it does not count. It needs the node kit's kube-scheduler
// (test/peers/node-kit/build.sh).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { AdminClient } from '../test/support/admin-client.ts';
import { ControlPlane } from '../test/support/control-plane/control-plane.ts';
import { barsOf } from './scheduler-cluster/bars.ts';
import { type Contender, clientLimit, contenders, namesOfContenders, preparePrograms } from './scheduler-cluster/contenders.ts';
import { NodeObjects } from './scheduler-cluster/nodes.ts';
import { auditPolicy } from './scheduler-cluster/requests.ts';
import { type Load, type Runner, runLoads, type SchedulerRun } from './scheduler-cluster/run.ts';
import { machine, printBars, writeResult } from './support/results.ts';
import { median, rounded } from './support/statistics.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    nodes: { type: 'string', default: '200' },
    pods: { type: 'string', default: '2000' },
    rate: { type: 'string', default: '50' },
  },
});
const rounds = Number(values.rounds);
const nodeCount = Number(values.nodes);
const pods = Number(values.pods);
const podsASecond = Number(values.rate);
const chosen = contenders.filter((contender) => values.only === undefined || values.only === contender);
const loads: Readonly<Record<string, Load>> = {
  'waiting for the scheduler': { pods, waiting: true },
  'all at once': { pods },
  [`${podsASecond} a second`]: { pods: Math.min(pods, podsASecond * 10), podsASecond },
};

const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-audit-'));
const auditLog = join(dir, 'audit.log');
const policyFile = join(dir, 'policy.yaml');
await writeFile(policyFile, auditPolicy);
// one file for all rounds: the apiserver would begin another one after 100 MB
const audit = [
  ...[`--audit-policy-file=${policyFile}`, `--audit-log-path=${auditLog}`],
  ...['--audit-log-mode=blocking', '--audit-log-maxsize=10000'],
];
const inflight = ['--max-requests-inflight=2000', '--max-mutating-requests-inflight=1000'];

const programs = await preparePrograms();
await using controlPlane = await ControlPlane.start({ apiServerArgs: [...audit, ...inflight] });
const admin = new AdminClient(controlPlane.kubeConfig());
const nodes = new NodeObjects(admin, nodeCount);
await nodes.start();
const runs = await play({ controlPlane, auditLog, nodes: nodeCount, programs });
await nodes.stop();
await admin.close();
for (const each of [dir, programs.dir]) await rm(each, { recursive: true, force: true });

const result = Object.fromEntries(Object.keys(loads).map((name, index) => [name, mediansOf(index)]));
const bars = Object.entries(result).flatMap(([name, { ours, kubeScheduler }]) =>
  ours === undefined || kubeScheduler === undefined ? [] : barsOf(name, loads[name] as Load, ours, kubeScheduler),
);
for (const [name, of] of Object.entries(result)) {
  console.log(`\n${name}: ${loads[name]?.pods} pods, ${nodeCount} nodes, median of ${rounds}`);
  console.table(
    Object.entries(of).map(([contender, { requests, podsOnANode, ...run }]) => ({
      name: namesOfContenders[contender as Contender],
      ...run,
      'pods on a node': podsOnANode.join('…'),
    })),
  );
  for (const [contender, { requests }] of Object.entries(of)) console.log(contender, JSON.stringify(requests));
}
printBars(bars);
if (chosen.length === contenders.length) {
  const command = 'npm run bench:scheduler-cluster';
  const text = { command, rounds, machine: machine(), nodes: nodeCount, clientLimit, loads, result, bars };
  await writeResult('scheduler-cluster.json', JSON.stringify(text, undefined, 2));
}

/** By contender, then by round, then by load. Who begins changes from round to round. */
async function play(runner: Runner): Promise<Record<Contender, SchedulerRun[][]>> {
  const played: Record<Contender, SchedulerRun[][]> = { ours: [], kubeScheduler: [], bareBindings: [] };
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? chosen : chosen.toReversed();
    for (const contender of order) {
      const found = await runLoads(runner, contender, Object.values(loads));
      played[contender].push(found);
      const shown = found.map(({ podsASecond: rate, p50Ms, p99Ms, cpuSeconds, memoryMiB, peakMiB }) => {
        return { rate, p50Ms, p99Ms, cpuSeconds, memoryMiB, peakMiB };
      });
      console.log(`round ${round + 1}: ${contender} ${JSON.stringify(shown)}`);
    }
  }
  return played;
}

function mediansOf(load: number): Partial<Record<Contender, SchedulerRun>> {
  return Object.fromEntries(
    chosen.map((contender) => {
      const all = runs[contender].map((round) => round[load] as SchedulerRun);
      const of = (value: (run: SchedulerRun) => number): number => rounded(median(all.map(value)));
      const run: SchedulerRun = {
        seconds: of((each) => each.seconds),
        podsASecond: of((each) => each.podsASecond),
        p50Ms: of((each) => each.p50Ms),
        p99Ms: of((each) => each.p99Ms),
        cpuSeconds: of((each) => each.cpuSeconds),
        memoryMiB: of((each) => each.memoryMiB),
        peakMiB: of((each) => each.peakMiB),
        requestsAPod: of((each) => each.requestsAPod),
        requests: all.at(-1)?.requests ?? {},
        podsOnANode: [of((each) => each.podsOnANode[0]), of((each) => each.podsOnANode[1])],
      };
      return [contender, run];
    }),
  );
}
