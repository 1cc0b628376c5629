import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KubeTransport } from '../../src/index.ts';
import { Reflector, ResourceClient, resources } from '../../src/reflector.ts';
import type { ControlPlane } from '../../test/support/control-plane/control-plane.ts';
import { medians } from '../parts/medians.ts';
import { median } from '../support/statistics.ts';
import { type NodeProgram, startKwok } from './kwok.ts';

export const virtualNodes = { ours: 'ProviderNode', kwok: 'kwok v0.8.0' } as const;
export type VirtualNodeName = keyof typeof virtualNodes;

export interface VirtualNodeRun {
  /** From the first creation until every pod is Ready. */
  readonly seconds: number;
  /** Of a pod, from the answer to its creation until it is Ready. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the node's process, from the first creation until every pod is Ready. */
  readonly cpuSeconds: number;
}

const namespace = 'default';
const creators = 50;

async function startOurs(controlPlane: ControlPlane, nodeName: string): Promise<NodeProgram> {
  const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-node-'));
  const kubeconfig = join(dir, 'kubeconfig');
  await controlPlane.writeKubeconfig(kubeconfig);
  const worker = fork(fileURLToPath(new URL('./provider-worker.ts', import.meta.url)), [kubeconfig, nodeName], { silent: true });
  const ended = once(worker, 'exit');
  await Promise.race([
    once(worker.stdout as NodeJS.ReadableStream, 'data'),
    ended.then(([code]) => Promise.reject(new Error(`the node ended with ${code}`))),
  ]);
  return {
    pid: worker.pid ?? 0,
    async stop() {
      worker.kill('SIGTERM');
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The processor time of a process so far, in seconds: Linux counts it in hundredths. */
async function cpuSecondsOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function eachAtOnce(count: number, call: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: creators }, work));
}

/** One run: `count` pods are created at once on a node of their own. */
async function run(controlPlane: ControlPlane, name: VirtualNodeName, nodeName: string, count: number): Promise<VirtualNodeRun> {
  const transport = new KubeTransport(controlPlane.kubeConfig());
  const pods = new ResourceClient(transport, resources.pods);
  const nodes = new ResourceClient(transport, resources.nodes);
  if (name === 'kwok') await nodes.create({ metadata: { name: nodeName } });
  const program = name === 'kwok' ? await startKwok(controlPlane, nodeName) : await startOurs(controlPlane, nodeName);
  const readyAt = new Map<string, number>();
  const allReady = Promise.withResolvers<void>();
  const reflector = new Reflector({
    logger: null,
    transport,
    resource: resources.pods,
    fieldSelector: `spec.nodeName=${nodeName}`,
    handlers: {
      updated({ metadata, status }) {
        const podName = metadata?.name ?? '';
        if (readyAt.has(podName) || !status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
          return;
        readyAt.set(podName, performance.now());
        if (readyAt.size === count) allReady.resolve();
      },
    },
  });
  await reflector.start();
  await untilReady(nodes, nodeName);
  const createdAt = new Map<string, number>();
  const [began, cpu] = [performance.now(), await cpuSecondsOf(program.pid)];
  await eachAtOnce(count, async (index) => {
    const podName = `${nodeName}-${index}`;
    await pods.create({
      metadata: { name: podName, namespace },
      spec: { nodeName, automountServiceAccountToken: false, containers: [{ name: 'app', image: 'app:1' }] },
    });
    createdAt.set(podName, performance.now());
  });
  await allReady.promise;
  const seconds = (performance.now() - began) / 1000;
  const cpuSeconds = (await cpuSecondsOf(program.pid)) - cpu;
  const waits = [...createdAt].map(([podName, at]) => Math.max(0, (readyAt.get(podName) ?? 0) - at)).sort((a, b) => a - b);
  await eachAtOnce(count, (index) => pods.delete({ namespace, name: `${nodeName}-${index}` }, { gracePeriodSeconds: 0 }));
  await program.stop();
  await nodes.delete({ name: nodeName }).catch(() => {});
  await reflector.stop();
  await transport.close();
  return { seconds, p50Ms: median(waits), p99Ms: waits[Math.floor(waits.length * 0.99)] ?? 0, cpuSeconds };
}

async function untilReady(nodes: ResourceClient, name: string): Promise<void> {
  for (;;) {
    const { status } = (await nodes.get({ name })) as { status?: { conditions?: { type: string; status: string }[] } };
    if (status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True')) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Runs the virtual nodes in turn, `rounds` times, on one real control plane. Medians over the rounds. */
export async function compareVirtualNodes(
  controlPlane: ControlPlane,
  count: number,
  rounds: number,
): Promise<Record<VirtualNodeName, VirtualNodeRun>> {
  const runs: Record<VirtualNodeName, VirtualNodeRun[]> = { ours: [], kwok: [] };
  const names = Object.keys(virtualNodes) as VirtualNodeName[];
  for (let round = 0; round < rounds; round += 1) {
    // each goes first in as many rounds as the other
    const turn = names.map((_, index) => names[(index + round) % names.length] as VirtualNodeName);
    for (const name of turn) runs[name].push(await run(controlPlane, name, `${name}-${round}`, count));
  }
  return { ours: medians(runs.ours), kwok: medians(runs.kwok) };
}
