// node bench/fleet/in-memory.ts NODES PODS MEMBERS: a fleet of so many nodes and pods on each, over the apiserver in memory. The server runs
// in this process, the members in processes of their own. It prints its figures as JSON.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { resources } from '../../src/reflector.ts';
import { InMemoryApiServer } from '../../src/testing.ts';
import { SupervisedProcess } from '../../test/support/control-plane/supervised-process.ts';
import { rounded } from '../support/statistics.ts';
import { nodeNames } from './creator.ts';
import { usageOfAll } from './usage.ts';

/** A fleet on the apiserver in memory. Memory and processor time are those of the members, without the server. */
export interface InMemoryRun {
  readonly nodes: number;
  readonly podsOnEach: number;
  /** From the start of the processes until all nodes are Ready. */
  readonly startSeconds: number;
  readonly startCpuSeconds: number;
  readonly emptyRssMiB: number;
  /** From the first pod's creation until all are Ready. */
  readonly loadSeconds: number;
  readonly loadCpuSeconds: number;
  readonly rssMiB: number;
  readonly restCpuSecondsAMinute: number;
  /** Of the apiserver's process, which does its work in one thread. */
  readonly serverRssMiB: number;
  readonly serverCpuSeconds: number;
}

const [count = 1000, podsOnEach = 30, members = 4] = process.argv.slice(2).map(Number);
const restMs = 30_000;
const member = fileURLToPath(new URL('./member.js', import.meta.url));
const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-fleet-'));
const server = await InMemoryApiServer.start({ requestLogSize: 0 });
await writeFile(join(dir, 'kubeconfig'), server.kubeConfig().exportConfig());
const names = nodeNames(count);

interface Conditioned {
  readonly metadata?: { readonly name?: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

function countReady(): { readonly nodes: Set<string>; readonly pods: Set<string> } {
  const seen = { nodes: new Set<string>(), pods: new Set<string>() };
  const note = (names: Set<string>) => (object: Conditioned) => {
    if (object.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'))
      names.add(object.metadata?.name ?? '');
  };
  server.store.watch(({ object }) => note(seen.pods)(object as Conditioned));
  server.objects(resources.nodes).watch(({ object }) => note(seen.nodes)(object as Conditioned));
  return seen;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(20);
}

const ready = countReady();
const began = performance.now();
const processes = await Promise.all(
  Array.from({ length: members }, (_, index) =>
    SupervisedProcess.start({
      command: process.execPath,
      args: [member, join(dir, 'kubeconfig'), 'fleet', String(count), String(index), String(members)],
      logFile: join(dir, `${index}.log`),
    }),
  ),
);
const pids = processes.map(({ pid }) => pid);
await until(() => ready.nodes.size === count);
const startSeconds = (performance.now() - began) / 1000;
const started = await usageOfAll(pids);
await delay(5000);
const empty = await usageOfAll(pids);
const created = performance.now();
for (let index = 0; index < count * podsOnEach; index += 1) {
  const nodeName = names[index % count];
  const spec = { nodeName, automountServiceAccountToken: false, containers: [{ name: 'app', image: 'app:1' }] };
  server.store.create({ metadata: { name: `pod-${index}`, namespace: 'default' }, spec });
  // the server answers between two lots
  if (index % 100 === 99) await delay(1);
}
await until(() => ready.pods.size === count * podsOnEach);
const loadSeconds = (performance.now() - created) / 1000;
const full = await usageOfAll(pids);
await delay(5000);
const atRest = await usageOfAll(pids);
await delay(restMs);
const after = await usageOfAll(pids);
const own = await usageOfAll([process.pid]);
const run: InMemoryRun = {
  nodes: count,
  podsOnEach,
  startSeconds: rounded(startSeconds),
  startCpuSeconds: rounded(started.cpuSeconds),
  emptyRssMiB: rounded(empty.rssMiB),
  loadSeconds: rounded(loadSeconds),
  loadCpuSeconds: rounded(full.cpuSeconds - empty.cpuSeconds),
  rssMiB: rounded(after.rssMiB),
  restCpuSecondsAMinute: rounded((after.cpuSeconds - atRest.cpuSeconds) * (60_000 / restMs)),
  serverRssMiB: rounded(own.rssMiB),
  serverCpuSeconds: rounded(own.cpuSeconds),
};
console.log(JSON.stringify(run));
await Promise.all(processes.map((one) => one.stop({ signal: 'SIGKILL' })));
await server.stop();
await rm(dir, { recursive: true, force: true });
