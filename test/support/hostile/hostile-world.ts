import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { KubeConfig } from '@kubernetes/client-node';
import type { WirePod } from '../../../src/api/json/types.ts';
import { AdminClient } from '../admin-client.ts';
import { heapOptions } from '../own-agent.ts';
import { hostilePart, hostilePod, ordinaryPod } from './hostile-pods.ts';

/** What an agent took, since it was asked last. */
export interface AgentUsage {
  /** As a clock shows it: where a server on the same processors works, its time is in it. */
  readonly longestTurnMs: number;
  /** The processor time of the agent's thread between two ticks of a timer of 5 ms: the longest turn takes at most that. */
  readonly longestTurnCpuMs: number;
  readonly mostHeapMB: number;
  readonly mostRSSMB: number;
  /** Statuses that were written again because the server's said something else. */
  readonly repairs: number;
}

const nodeName = 'hostile-node';
/** About what a pod may have in etcd. */
const largest = 1_500_000;
const longestWaitMs = 120_000;

/** A node agent as a process of its own, with the heap that the guide names, and the pods that users give it. */
export class HostileWorld implements AsyncDisposable {
  readonly #admin: AdminClient;
  readonly #folder: string;
  readonly #namespace: string;
  #agent:
    | { readonly process: ChildProcessByStdio<Writable, Readable, Readable>; readonly lines: AsyncIterator<string> }
    | undefined;
  #said = '';

  private constructor(admin: AdminClient, folder: string, namespace: string) {
    this.#admin = admin;
    this.#folder = folder;
    this.#namespace = namespace;
  }

  static async open(kubeConfig: KubeConfig, namespace: string): Promise<HostileWorld> {
    const admin = new AdminClient(kubeConfig);
    const folder = await mkdtemp(join(tmpdir(), 'hostile-'));
    await writeFile(join(folder, 'kubeconfig'), kubeConfig.exportConfig());
    await admin.send('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
    return new HostileWorld(admin, folder, namespace);
  }

  /** Why the agent has ended, and the last that it said; undefined while it runs. */
  get agentEnd(): string | undefined {
    const { exitCode = null, signalCode = null } = this.#agent?.process ?? {};
    return exitCode === null && signalCode === null ? undefined : `${exitCode ?? signalCode}: ${this.#said}`;
  }

  async startAgent(): Promise<void> {
    const script = fileURLToPath(new URL('agent-process.ts', import.meta.url));
    const process_ = spawn(process.execPath, [
      ...heapOptions(),
      script,
      join(this.#folder, 'kubeconfig'),
      nodeName,
      this.#folder,
    ]);
    process_.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-2000);
    });
    this.#agent = { process: process_, lines: createInterface(process_.stdout)[Symbol.asyncIterator]() };
    await this.#nextLine();
  }

  async usage(): Promise<AgentUsage> {
    this.#agent?.process.stdin.write('usage\n');
    return JSON.parse(await this.#nextLine()) as AgentUsage;
  }

  async stopAgent(): Promise<void> {
    const child = this.#agent?.process;
    if (child === undefined || this.agentEnd !== undefined) return;
    child.stdin.end();
    await once(child, 'exit');
  }

  /** Creates a pod of the kind, as large as the server takes it. Resolves with its size as JSON. */
  async createHostile(kind: string, name: string): Promise<number> {
    for (let size = largest; size > 1000; size *= 0.85) {
      const body = hostilePod(kind, name, nodeName, Math.floor(size));
      const answer = await this.#admin.createPod(this.#namespace, body);
      if (answer.status === 201) return JSON.stringify(answer.body).length;
    }
    throw new Error(`the server takes no pod with ${kind}`);
  }

  /** Gives a pod as many labels as the server takes. */
  async label(name: string): Promise<void> {
    const labels = hostilePart('labels', 1_200_000).metadata?.labels;
    const path = `/api/v1/namespaces/${this.#namespace}/pods/${name}`;
    const { status, body } = await this.#admin.patch(path, { metadata: { labels } }, 'merge');
    if (status !== 200) throw new Error(`the labels were refused: ${JSON.stringify(body).slice(0, 300)}`);
  }

  async createOrdinary(name: string): Promise<void> {
    const { status, body } = await this.#admin.createPod(this.#namespace, ordinaryPod(name, nodeName));
    if (status !== 201) throw new Error(`an ordinary pod was refused: ${JSON.stringify(body)}`);
  }

  /** Resolves once each pod is so, with the time that it took. Rejects where the agent ends, or it takes too long. */
  async reach(names: readonly string[], isSo: (status: WirePod['status']) => boolean): Promise<number> {
    const begun = performance.now();
    const left = new Set(names);
    while (left.size > 0) {
      if (this.agentEnd !== undefined) throw new Error(`the agent has ended: ${this.agentEnd}`);
      if (performance.now() - begun > longestWaitMs) throw new Error(`not so after ${longestWaitMs} ms: ${[...left].join(', ')}`);
      for (const name of left) if (isSo(await this.status(name))) left.delete(name);
      await setTimeout(20);
    }
    return Math.round(performance.now() - begun);
  }

  async status(name: string): Promise<WirePod['status']> {
    const { body } = await this.#admin.getPod(this.#namespace, name);
    return (body as WirePod).status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent?.process.kill('SIGKILL');
    await this.#admin.send('DELETE', `/api/v1/namespaces/${this.#namespace}/pods`, { query: { gracePeriodSeconds: '0' } });
    await this.#admin.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #nextLine(): Promise<string> {
    const next = await this.#agent?.lines.next();
    if (next === undefined || next.done === true) throw new Error(`the agent has ended: ${this.agentEnd}`);
    return next.value;
  }
}

export function isRunning(status: WirePod['status']): boolean {
  return status?.phase === 'Running';
}

/** It runs, is refused, or waits with a reason. */
export function isDecided(status: WirePod['status']): boolean {
  const waiting = status?.containerStatuses?.[0]?.state?.waiting?.reason ?? 'ContainerCreating';
  return isRunning(status) || status?.phase === 'Failed' || waiting !== 'ContainerCreating';
}
