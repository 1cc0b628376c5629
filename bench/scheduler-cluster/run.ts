import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { AdminClient } from '../../test/support/admin-client.ts';
import type { ControlPlane } from '../../test/support/control-plane/control-plane.ts';
import { percentile, rounded } from '../support/statistics.ts';
import { usageOf } from '../support/usage.ts';
import { BoundTimes, type PodLife } from './bound-times.ts';
import { type Contender, type Programs, type SchedulerProcess, startScheduler } from './contenders.ts';
import { peakMiB, resetPeak } from './memory.ts';
import { requestsIn } from './requests.ts';
import { withWorkers } from './with-workers.ts';

/** What one scheduler did with one lot of pods. */
export interface SchedulerRun {
  /** From the first pod created (with `waiting`: from the start of the scheduler's process) until the last one is bound. */
  readonly seconds: number;
  readonly podsASecond: number;
  /** Of a pod, from created (with `waiting`: from the start of the scheduler's process) to bound, as one watch told. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the scheduler's process, from the first pod created (with `waiting`: from its start) until its last request. */
  readonly cpuSeconds: number;
  /** Resident after the last request, and the most until then. */
  readonly memoryMiB: number;
  readonly peakMiB: number;
  readonly requestsAPod: number;
  readonly requests: Readonly<Record<string, number>>;
  /** On a node: the fewest and the most. */
  readonly podsOnANode: readonly [number, number];
}

export interface Load {
  readonly pods: number;
  /** Created at this rate; without it, as fast as the apiserver takes them. */
  readonly podsASecond?: number;
  /** The pods are there before the scheduler starts: nothing but the scheduler decides how fast they are bound. */
  readonly waiting?: boolean;
}

export interface Runner {
  readonly controlPlane: ControlPlane;
  readonly auditLog: string;
  readonly nodes: number;
  readonly programs: Programs;
}

const warmUpPods = 100;

/** Pods that wait find a new scheduler; all other loads go to one that has bound some pods before, so that it is warm. */
export async function runLoads(runner: Runner, contender: Contender, loads: readonly Load[]): Promise<SchedulerRun[]> {
  const runs: SchedulerRun[] = [];
  for (const load of loads.filter(({ waiting }) => waiting)) runs.push(await runLoad(runner, contender, undefined, load));
  const scheduler = await startScheduler(runner.controlPlane, contender, runner.programs);
  try {
    await runLoad(runner, contender, scheduler, { pods: warmUpPods });
    for (const load of loads.filter(({ waiting }) => !waiting)) runs.push(await runLoad(runner, contender, scheduler, load));
  } finally {
    await scheduler.stop();
  }
  return runs;
}

async function runLoad(
  { controlPlane, auditLog, nodes, programs }: Runner,
  contender: Contender,
  running: SchedulerProcess | undefined,
  load: Load,
): Promise<SchedulerRun> {
  const admin = new AdminClient(controlPlane.kubeConfig());
  const observer = new AdminClient(controlPlane.kubeConfig());
  let started: SchedulerProcess | undefined;
  try {
    const namespace = await admin.createNamespace('bench');
    const times = await BoundTimes.start(observer, namespace, load.pods);
    const before = running === undefined ? 0 : (await usageOf(running.pid)).cpuSeconds;
    if (running !== undefined) await resetPeak(running.pid);
    await createPods(admin, namespace, load);
    const startedAt = performance.now();
    if (running === undefined) started = await startScheduler(controlPlane, contender, programs);
    const lives = await times.allBound();
    const requests = await allRequests(auditLog, namespace);
    const { pid } = (running ?? started) as SchedulerProcess;
    const [after, peak] = [await usageOf(pid), await peakMiB(pid)];
    await deletePods(admin, namespace);
    const usage = { cpuSeconds: rounded(after.cpuSeconds - before), memoryMiB: rounded(after.memoryMiB), peakMiB: rounded(peak) };
    return {
      ...resultOf(load.waiting ? lives.map((life) => ({ ...life, createdAt: startedAt })) : lives, nodes),
      ...usage,
      ...countsOf(requests, load.pods),
    };
  } finally {
    await started?.stop();
    await observer.close();
    await admin.close();
  }
}

/** Events are written after the bindings: it waits until there has been none for two seconds. */
async function allRequests(auditLog: string, namespace: string): Promise<Readonly<Record<string, number>>> {
  for (let before = -1; ; ) {
    const requests = requestsIn(await readFile(auditLog, 'utf8'), namespace);
    const count = Object.values(requests).reduce((sum, each) => sum + each, 0);
    if (count === before) return requests;
    before = count;
    await pause(2000);
  }
}

const podSpec = {
  containers: [{ name: 'app', image: 'registry.example/app:1', resources: { requests: { cpu: '100m', memory: '100Mi' } } }],
};

async function createPods(admin: AdminClient, namespace: string, { pods, podsASecond }: Load): Promise<void> {
  const create = async (index: number): Promise<void> => {
    const pod = { metadata: { name: `pod-${index}`, labels: { app: 'bench' } }, spec: podSpec };
    const { status, body } = await admin.createPod(namespace, pod);
    if (status !== 201) throw new Error(`A pod was answered ${status}: ${JSON.stringify(body)}`);
  };
  if (podsASecond === undefined) return withWorkers(16, pods, create);
  const start = performance.now();
  const creations = Array.from({ length: pods }, async (_, index) => {
    await pause(Math.max(0, start + (index * 1000) / podsASecond - performance.now()));
    await create(index);
  });
  await Promise.all(creations);
}

async function deletePods(admin: AdminClient, namespace: string): Promise<void> {
  await admin.send('DELETE', `/api/v1/namespaces/${namespace}/pods`, { body: { gracePeriodSeconds: 0 } });
  for (;;) {
    const { body } = await admin.listPods(namespace, { limit: '1' });
    if ((body as { items: unknown[] }).items.length === 0) return;
    await pause(100);
  }
}

function resultOf(lives: readonly PodLife[], nodes: number) {
  const seconds =
    (Math.max(...lives.map(({ boundAt }) => boundAt)) - Math.min(...lives.map(({ createdAt }) => createdAt))) / 1000;
  const latencies = lives.map(({ createdAt, boundAt }) => boundAt - createdAt);
  const onNodes = new Map<string, number>();
  for (const { nodeName } of lives) onNodes.set(nodeName, (onNodes.get(nodeName) ?? 0) + 1);
  const fewest = onNodes.size < nodes ? 0 : Math.min(...onNodes.values());
  return {
    seconds: rounded(seconds),
    podsASecond: rounded(lives.length / seconds),
    p50Ms: rounded(percentile(latencies, 0.5)),
    p99Ms: rounded(percentile(latencies, 0.99)),
    podsOnANode: [fewest, Math.max(...onNodes.values())] as const,
  };
}

function countsOf(requests: Readonly<Record<string, number>>, pods: number) {
  const total = Object.values(requests).reduce((sum, count) => sum + count, 0);
  return { requestsAPod: rounded(total / pods), requests };
}
