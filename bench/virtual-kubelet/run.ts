import { setTimeout as delay } from 'node:timers/promises';
import { AdminClient } from '../../test/support/admin-client.ts';
import { PodTimes } from '../node-agent/pod-times.ts';
import { type RequestCounts, requestsIn } from '../node-agent/requests.ts';
import { median, percentile } from '../support/statistics.ts';
import { usageOf } from '../support/usage.ts';
import type { AuditedControlPlane } from './audited.ts';
import { measureLogs } from './logs.ts';
import { type NodeKind, startNode } from './programs.ts';

export interface BenchSize {
  /** Pods that are created at once. */
  readonly pods: number;
  /** Pods that live one after the other, before. */
  readonly singles: number;
}

/** What one node took in one round. */
export interface NodeRun {
  /** One pod at a time: from the answer to its creation until it is Ready. */
  readonly readyP50Ms: number;
  /** One pod at a time: from the request to delete it until it is gone. */
  readonly goneP50Ms: number;
  /** All at once: from the first creation until every pod is Ready. */
  readonly readySeconds: number;
  readonly readyP99Ms: number;
  /** All at once: from the first request to delete until every pod is gone. */
  readonly goneSeconds: number;
  readonly goneP99Ms: number;
  /** `GET` of a pod's log at the apiserver, with all pods Ready. */
  readonly logP50Ms: number;
  /** A whole `kubectl logs`. */
  readonly kubectlLogsP50Ms: number;
  /** From its creation until it is gone. */
  readonly requestsAPod: number;
  /** Of the node's process, from the first creation until all are gone, without that for logs. */
  readonly cpuMsAPod: number;
  /** Resident, with all pods Ready. */
  readonly memoryMiB: number;
  /** Resident, without a pod, at the start. */
  readonly emptyMemoryMiB: number;
}

export interface NodeRound {
  readonly run: NodeRun;
  readonly requests: RequestCounts;
}

/** How many requests of the one who creates and deletes are under way. */
const atOnce = 50;
/** A rival with a limit on its own requests takes minutes. */
const withinMs = 900_000;

/** One node, its pods one at a time and then all at once, in a namespace of their own. */
export async function measure(server: AuditedControlPlane, kind: NodeKind, round: number, size: BenchSize): Promise<NodeRound> {
  const { controlPlane } = server;
  const admin = new AdminClient(controlPlane.kubeConfig());
  const watcher = new AdminClient(controlPlane.kubeConfig());
  const nodeName = `${kind}-${round}`;
  const namespace = await admin.createNamespace(nodeName);
  const node = await startNode(kind, nodeName, server, admin);
  const times = new PodTimes(watcher, namespace);
  const reading = times.read().catch(() => {});
  try {
    await untilReady(admin, nodeName);
    await delay(1000);
    const before = await usageOf(node.pid);
    const pods = new NodePods(admin, times, namespace, nodeName);
    const single = await pods.oneByOne(size.singles);
    const created = await pods.createAll(size.pods);
    await delay(1000);
    const full = await usageOf(node.pid);
    const logs = await measureLogs(admin, server.kubeconfig, namespace);
    const beforeDeleted = await usageOf(node.pid);
    const deleted = await pods.deleteAll(size.pods);
    await delay(1000);
    const after = await usageOf(node.pid);
    const count = size.singles + size.pods;
    const requests = requestsIn(await server.auditLog(), namespace);
    const run: NodeRun = {
      readyP50Ms: median(single.ready),
      goneP50Ms: median(single.gone),
      readySeconds: created.seconds,
      readyP99Ms: percentile(created.ms, 0.99),
      goneSeconds: deleted.seconds,
      goneP99Ms: percentile(deleted.ms, 0.99),
      logP50Ms: logs.log,
      kubectlLogsP50Ms: logs.kubectl,
      requestsAPod: requests.total / count,
      cpuMsAPod: ((after.cpuSeconds - beforeDeleted.cpuSeconds + full.cpuSeconds - before.cpuSeconds) * 1000) / count,
      memoryMiB: full.memoryMiB,
      emptyMemoryMiB: before.memoryMiB,
    };
    return { run, requests };
  } finally {
    await node.stop();
    await admin.send('DELETE', `/api/v1/nodes/${nodeName}`);
    await watcher.close();
    await reading;
    await admin.close();
  }
}

interface BurstTimes {
  readonly seconds: number;
  /** Of each pod. */
  readonly ms: readonly number[];
}

/** The pods of one node: created and deleted as `kubectl` does it, with the grace period of their spec. */
class NodePods {
  readonly #admin: AdminClient;
  readonly #times: PodTimes;
  readonly #namespace: string;
  readonly #nodeName: string;

  constructor(admin: AdminClient, times: PodTimes, namespace: string, nodeName: string) {
    this.#admin = admin;
    this.#times = times;
    this.#namespace = namespace;
    this.#nodeName = nodeName;
  }

  /** Each is deleted, and the next created, as soon as it is Ready and a moment has passed. */
  async oneByOne(count: number): Promise<{ readonly ready: number[]; readonly gone: number[] }> {
    const ready: number[] = [];
    const gone: Promise<number>[] = [];
    for (let index = 0; index < count; index++) {
      const name = `single-${index}`;
      const created = await this.#create(name);
      ready.push((await this.#times.when('ready', name, withinMs)) - created);
      // a limit of requests a second is not to count for one pod at a time
      await delay(1000);
      const deleted = await this.#delete(name);
      gone.push(this.#times.when('gone', name, withinMs).then((at) => at - deleted));
    }
    return { ready, gone: await Promise.all(gone) };
  }

  createAll(count: number): Promise<BurstTimes> {
    return this.#allAtOnce(count, 'ready', (name) => this.#create(name));
  }

  deleteAll(count: number): Promise<BurstTimes> {
    return this.#allAtOnce(count, 'gone', (name) => this.#delete(name));
  }

  async #allAtOnce(count: number, moment: 'ready' | 'gone', send: (name: string) => Promise<number>): Promise<BurstTimes> {
    const began = performance.now();
    const waits: Promise<number>[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < count) {
        const name = `burst-${next++}`;
        const sent = await send(name);
        waits.push(this.#times.when(moment, name, withinMs).then((at) => Math.max(0, at - sent)));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    const ms = await Promise.all(waits);
    return { seconds: (performance.now() - began) / 1000, ms };
  }

  /** Resolves with the time of the answer. */
  async #create(name: string): Promise<number> {
    const spec = { nodeName: this.#nodeName, automountServiceAccountToken: false, containers: [{ name: 'app', image: 'app:1' }] };
    const { status, body } = await this.#admin.createPod(this.#namespace, { metadata: { name }, spec });
    if (status !== 201) throw new Error(`${name} was not created: ${JSON.stringify(body)}`);
    return performance.now();
  }

  /** Resolves with the time of the request. */
  async #delete(name: string): Promise<number> {
    const sent = performance.now();
    const { status, body } = await this.#admin.send('DELETE', `/api/v1/namespaces/${this.#namespace}/pods/${name}`);
    if (status !== 200) throw new Error(`${name} was not deleted: ${JSON.stringify(body)}`);
    return sent;
  }
}

async function untilReady(admin: AdminClient, name: string): Promise<void> {
  for (;;) {
    const { body } = await admin.send('GET', `/api/v1/nodes/${name}`);
    const { status } = body as {
      readonly status?: { readonly conditions?: { readonly type: string; readonly status: string }[] };
    };
    if (status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True')) return;
    await delay(50);
  }
}
