import { setTimeout as pause } from 'node:timers/promises';
import type { WireNode, WirePod } from '../../src/api/json/types.ts';
import { AdminClient } from '../../test/support/admin-client.ts';
import { objectOf } from '../../test/support/answers.ts';
import { ControlPlane } from '../../test/support/control-plane/control-plane.ts';
import { type Contender, type Programs, startScheduler } from '../scheduler-cluster/contenders.ts';
import { withWorkers } from '../scheduler-cluster/with-workers.ts';
import { usageOf } from '../support/usage.ts';
import { BoundPods } from './bound-pods.ts';
import { nodeOf } from './objects.ts';
import { mostMsAStep, type PerfRun } from './run.ts';
import { sampleMs, ThroughputSamples } from './throughput.ts';
import type { PerfWorkload, Step } from './workload.ts';

/** What scheduler_perf turns off beside ServiceAccount: nodes get no taints, and a pod may say its priority itself. */
const apiServerArgs = ['--disable-admission-plugins=TaintNodesByCondition,Priority'];

/** As many requests at once as upstream's harness sends. */
const creators = 30;

/** Plays a workload on a control plane of its own with a scheduler in a process of its own. */
export async function runOnCluster(workload: PerfWorkload, contender: Contender, programs: Programs): Promise<PerfRun> {
  await using controlPlane = await ControlPlane.start({ apiServerArgs });
  const admin = new AdminClient(controlPlane.kubeConfig());
  const observer = new AdminClient(controlPlane.kubeConfig());
  const bound = await BoundPods.start(observer);
  const scheduler = await startScheduler(controlPlane, contender, programs);
  const play = new Play(admin, bound, scheduler.pid);
  try {
    for (const step of workload.steps) await play.do(step);
    return play.measured();
  } finally {
    await play.stop();
    await scheduler.stop();
    await observer.close();
    await admin.close();
  }
}

type PodStep = Extract<Step, { kind: 'pods' }>;

class Play {
  readonly #admin: AdminClient;
  readonly #bound: BoundPods;
  readonly #pid: number;
  readonly #namespaces = new Set<string>();
  readonly #churns: Promise<void>[] = [];
  readonly #stopped = new AbortController();
  #run: PerfRun | undefined;

  constructor(admin: AdminClient, bound: BoundPods, pid: number) {
    this.#admin = admin;
    this.#bound = bound;
    this.#pid = pid;
  }

  async do(step: Step): Promise<void> {
    if (step.kind === 'namespaces') for (const name of step.names) await this.#createNamespace(name);
    if (step.kind === 'nodes') await this.#createNodes(step);
    if (step.kind === 'pods' && !step.measured) await this.#createPods(step);
    if (step.kind === 'pods' && step.measured) this.#run = await this.#measure(step);
    if (step.kind === 'churn') {
      await this.#createNamespace(step.namespace);
      this.#churns.push(this.#churn(step));
    }
  }

  measured(): PerfRun {
    if (this.#run === undefined) throw new Error('No step of the workload is measured');
    return this.#run;
  }

  /** Ends what goes on beside the steps. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.allSettled(this.#churns);
  }

  async #measure(step: PodStep): Promise<PerfRun> {
    await this.#createNamespace(step.namespace);
    const samples = new ThroughputSamples();
    const sample = (): void => samples.sample(performance.now(), this.#bound.count(step.namespace));
    const { cpuSeconds: before } = await usageOf(this.#pid);
    const timer = setInterval(sample, sampleMs);
    const start = performance.now();
    const createdAt = await this.#createPods(step).finally(() => clearInterval(timer));
    const seconds = (performance.now() - start) / 1000;
    await this.stop();
    const { cpuSeconds, memoryMiB } = await this.#usageAtRest();
    const throughput = samples.result();
    return {
      ...(throughput !== undefined && { throughput }),
      podsASecond: step.count / seconds,
      createdASecond: (step.count * 1000) / (createdAt - start),
      cpuMsAPod: ((cpuSeconds - before) * 1000) / step.count,
      memoryMiB,
    };
  }

  /** Events are written after the bindings: it waits until the process has little to do for a second. */
  async #usageAtRest(): Promise<{ cpuSeconds: number; memoryMiB: number }> {
    let usage = await usageOf(this.#pid);
    for (let round = 0; round < 30; round++) {
      await pause(1000);
      const now = await usageOf(this.#pid);
      const used = now.cpuSeconds - usage.cpuSeconds;
      usage = now;
      if (used < 0.03) break;
    }
    return usage;
  }

  async #createNamespace(name: string): Promise<void> {
    if (this.#namespaces.has(name)) return;
    this.#namespaces.add(name);
    objectOf(await this.#admin.send('POST', '/api/v1/namespaces', { body: { metadata: { name } } }));
  }

  async #createNodes(step: Extract<Step, { kind: 'nodes' }>): Promise<void> {
    await withWorkers(creators, step.count, async (index) => {
      const body: WireNode = nodeOf(step, index);
      objectOf(await this.#admin.send('POST', '/api/v1/nodes', { body }));
    });
  }

  /** Until all of them have a node. Resolves to when the last one was created. */
  async #createPods({ template, count, namespace }: PodStep): Promise<number> {
    await this.#createNamespace(namespace);
    await withWorkers(creators, count, () => this.#createPod(namespace, template));
    const createdAt = performance.now();
    await this.#bound.reached(namespace, count, mostMsAStep);
    return createdAt;
  }

  /** The server makes up the name, which now and then is one that is there already. */
  async #createPod(namespace: string, pod: WirePod): Promise<void> {
    for (;;) {
      const answer = await this.#admin.createPod(namespace, pod);
      if (answer.status === 201) return;
      if (answer.status !== 409) objectOf(answer);
    }
  }

  async #churn({ templates, namespace, everyMs }: Extract<Step, { kind: 'churn' }>): Promise<void> {
    const { signal } = this.#stopped;
    for (;;) {
      await pause(everyMs, undefined, { signal });
      for (const template of templates) await this.#createPod(namespace, template);
    }
  }
}
