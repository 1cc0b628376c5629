import type { WireNode, WirePod } from '../../src/api/json/types.ts';
import type { PodStatusChange, SchedulerClient } from '../../src/scheduler/framework/scheduler-client.ts';
import { Scheduler } from '../../src/scheduler/scheduler.ts';
import { nodeOf } from './objects.ts';
import { mostMsAStep, type PerfRun } from './run.ts';
import type { PerfWorkload, Step } from './workload.ts';

type PodStep = Extract<Step, { kind: 'pods' }>;

/** Plays a workload without a server: what the scheduler writes is done at once, and it is told of it at once. */
export async function runInMemory(steps: PerfWorkload['steps']): Promise<PerfRun> {
  const cluster = new MemoryCluster();
  try {
    cluster.scheduler.start();
    for (const step of steps) await cluster.do(step);
    return cluster.measured();
  } finally {
    await cluster.stop();
  }
}

class MemoryCluster implements SchedulerClient {
  readonly scheduler = new Scheduler({ client: this, logger: null });
  readonly #pods = new Map<string, WirePod>();
  readonly #bound = new Map<string, number>();
  readonly #churns: NodeJS.Timeout[] = [];
  #wanted: { readonly namespace: string; readonly count: number; readonly reached: PromiseWithResolvers<void> } | undefined;
  #created = 0;
  #run: PerfRun | undefined;

  async do(step: Step): Promise<void> {
    if (step.kind === 'nodes') for (let index = 0; index < step.count; index++) this.scheduler.setNode(servedNode(step, index));
    if (step.kind === 'pods' && !step.measured) await this.#createPods(step);
    if (step.kind === 'pods' && step.measured) this.#run = await this.#measure(step);
    if (step.kind === 'churn') this.#churn(step);
  }

  measured(): PerfRun {
    if (this.#run === undefined) throw new Error('No step of the workload is measured');
    return this.#run;
  }

  async stop(): Promise<void> {
    for (const churn of this.#churns) clearInterval(churn);
    await this.scheduler.stop();
  }

  async bind(pod: WirePod, nodeName: string): Promise<void> {
    const { uid = '', namespace = '', name } = pod.metadata ?? {};
    const known = this.#pods.get(uid);
    if (known?.spec === undefined) throw new Error(`${name} is gone`);
    if (known.spec.nodeName !== undefined) throw new Error(`${name} was bound twice`);
    this.#set(uid, { ...known, spec: { ...known.spec, nodeName } });
    const count = (this.#bound.get(namespace) ?? 0) + 1;
    this.#bound.set(namespace, count);
    if (this.#wanted?.namespace === namespace && count >= this.#wanted.count) this.#wanted.reached.resolve();
  }

  async patchStatus(pod: WirePod, { condition, nominatedNodeName }: PodStatusChange): Promise<void> {
    const uid = pod.metadata?.uid ?? '';
    const known = this.#pods.get(uid);
    if (known === undefined) return;
    const status = {
      ...known.status,
      ...(condition !== undefined && { conditions: [condition] }),
      ...(nominatedNodeName !== undefined && { nominatedNodeName }),
    };
    this.#set(uid, { ...known, status });
  }

  async deletePod(pod: WirePod): Promise<void> {
    const uid = pod.metadata?.uid ?? '';
    if (this.#pods.delete(uid)) this.scheduler.deletePod(uid);
  }

  event(): void {}

  async #measure(step: PodStep): Promise<PerfRun> {
    await this.scheduler.flush();
    globalThis.gc?.();
    const [start, cpu] = [performance.now(), process.cpuUsage()];
    await this.#createPods(step);
    const seconds = (performance.now() - start) / 1000;
    await this.scheduler.flush();
    const { user, system } = process.cpuUsage(cpu);
    const memoryMiB = process.memoryUsage.rss() / 1024 / 1024;
    return { podsASecond: step.count / seconds, cpuMsAPod: (user + system) / 1000 / step.count, memoryMiB };
  }

  async #createPods({ template, count, namespace }: PodStep): Promise<void> {
    const reached = Promise.withResolvers<void>();
    this.#wanted = { namespace, count, reached };
    for (let index = 0; index < count; index++) this.#create(namespace, template);
    const missing = (): string =>
      `${count - (this.#bound.get(namespace) ?? 0)} of ${count} pods have no node after ${mostMsAStep} ms`;
    const timer = setTimeout(() => reached.reject(new Error(missing())), mostMsAStep);
    await reached.promise.finally(() => clearTimeout(timer));
  }

  #create(namespace: string, { metadata, spec, ...template }: WirePod): void {
    const uid = `uid-${this.#created}`;
    const { generateName, ...kept } = metadata ?? {};
    const name = `${generateName}${this.#created++}`;
    if (spec === undefined) throw new Error(`${name} has no spec`);
    const served = { schedulerName: 'default-scheduler', ...spec, containers: spec.containers.map(servedContainer) };
    this.#set(uid, { ...template, metadata: { ...kept, name, namespace, uid }, spec: served });
  }

  #churn({ templates, namespace, everyMs }: Extract<Step, { kind: 'churn' }>): void {
    const create = (): void => {
      for (const template of templates) this.#create(namespace, template);
    };
    this.#churns.push(setInterval(create, everyMs));
  }

  #set(uid: string, pod: WirePod): void {
    this.#pods.set(uid, pod);
    this.scheduler.setPod(pod);
  }
}

type Container = NonNullable<WirePod['spec']>['containers'][number];

/** A server writes amounts as texts; in a file they may be numbers. */
function servedContainer({ resources, ...container }: Container): Container {
  const texts = (amounts: Readonly<Record<string, unknown>> = {}): Record<string, string> =>
    Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));
  return { ...container, resources: { requests: texts(resources?.requests), limits: texts(resources?.limits) } };
}

/** A server fills in what a node lets pods have. */
function servedNode(step: Extract<Step, { kind: 'nodes' }>, index: number): WireNode {
  const node = nodeOf(step, index);
  return { ...node, status: { allocatable: node.status?.capacity ?? {}, ...node.status } };
}
