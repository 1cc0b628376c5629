import type { WirePod } from 'pod-status-manager';
import type { ProviderNode } from 'pod-status-manager/node';
import { ClusterScheduler } from 'pod-status-manager/scheduler';
import type { InMemoryApiServer } from 'pod-status-manager/testing';
import type { AdminClient } from '../admin-client.ts';
import { pause } from '../pause.ts';
import { PodOwners } from '../pod-owners.ts';
import { demoNodes, providerNode } from './demo-nodes.ts';
import { schedulablePod } from './demo-pods.ts';
import { Placements } from './placements.ts';
import type { ScheduleSnapshot } from './schedule-view.ts';

export interface ScheduleRunOptions {
  readonly server: InMemoryApiServer;
  readonly admin: AdminClient;
  readonly pods: number;
  readonly seconds: number;
  readonly seed: number;
}

const namespace = 'default';
const longestStartMs = 10_000;
const longestEndMs = 20_000;

/** Several virtual nodes, a scheduler, and the owners of pods that have no node yet. */
export class ScheduleRun {
  readonly #options: ScheduleRunOptions;
  readonly #nodes: readonly ProviderNode[];
  readonly #scheduler: ClusterScheduler;
  readonly #owners: PodOwners;
  readonly #placements = new Placements(demoNodes, () => performance.now());
  readonly #endWatch: () => void;
  #stage: ScheduleSnapshot['stage'] = 'running';
  #startedAt = performance.now();

  constructor(options: ScheduleRunOptions) {
    const { server, admin, pods, seconds, seed } = options;
    this.#options = options;
    this.#nodes = demoNodes.map((node) => providerNode(node, server.kubeConfig()));
    // its lines would break the picture on the screen
    this.#scheduler = new ClusterScheduler({ kubeConfig: server.kubeConfig(), leaderElection: false, logger: null });
    this.#owners = new PodOwners({ admin, namespace, pods, seconds, seed, makePod: schedulablePod });
    this.#endWatch = server.store.watch((change) => this.#placements.note(change));
  }

  /** Resolves when the signal has aborted or the time is over, and no owner does anything any more. */
  async play(signal: AbortSignal): Promise<void> {
    const parts = [...this.#nodes, this.#scheduler];
    await Promise.all(parts.map((part) => part.start({ timeoutMs: longestStartMs, signal }))).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    this.#startedAt = performance.now();
    if (signal.aborted) return;
    // a new node is tainted until it is ready, and there is no node controller here
    for (const { name } of demoNodes) await this.#options.admin.clearTaints(name);
    await this.#owners.run(AbortSignal.any([signal, AbortSignal.timeout(this.#options.seconds * 1000)]));
  }

  /**
   * Deletes every pod that has a node until none is left: those that waited for room get it. Returns what went wrong in the
   * whole run, one sentence each.
   */
  async empty(signal: AbortSignal): Promise<readonly string[]> {
    this.#stage = 'emptying';
    const deadline = performance.now() + longestEndMs;
    while (this.#pods().length > 0 && performance.now() < deadline && !signal.aborted) {
      await this.#deletePlaced();
      await pause(50, signal);
    }
    this.#stage = 'done';
    const left = this.#pods().map(({ metadata, spec }) => `${metadata?.name} is left ${spec?.nodeName ?? 'without a node'}`);
    return [...this.#owners.failures, ...this.#placements.problems, ...left];
  }

  /** Stops everything; no timer and no socket is left. */
  async close(): Promise<void> {
    this.#endWatch();
    await this.#scheduler.stop();
    await Promise.all(this.#nodes.map((node) => node.stop()));
  }

  snapshot(): ScheduleSnapshot {
    const pods = this.#pods();
    const waiting = pods.filter(({ spec }) => spec?.nodeName === undefined);
    const { created } = this.#owners;
    return {
      stage: this.#stage,
      elapsedMs: performance.now() - this.#startedAt,
      nodes: demoNodes.map((node) => ({ ...node, load: this.#placements.load(node.name) })),
      waiting: waiting.length,
      reason: waiting.map(reasonOf).find((reason) => reason !== undefined),
      created,
      placed: this.#placements.placed,
      // a pod is on the server before its owner hears of it
      gone: Math.max(0, created - pods.length),
      medianWaitMs: this.#placements.medianWaitMs(),
    };
  }

  #pods(): readonly WirePod[] {
    return this.#options.server.store.list({ namespace });
  }

  async #deletePlaced(): Promise<void> {
    for (const { metadata, spec } of this.#pods()) {
      const { name = '', uid = '', deletionTimestamp } = metadata ?? {};
      if (spec?.nodeName === undefined || deletionTimestamp !== undefined) continue;
      await this.#options.admin.deletePod(namespace, name, uid);
    }
  }
}

/** What the scheduler has said of a pod without a node. */
function reasonOf({ status }: WirePod): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message;
}
