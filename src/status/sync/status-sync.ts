import type { PodClient } from '../../client/pod-client.ts';
import { StatusManagerError } from '../../errors.ts';
import type { PodStatuses, VersionedPodStatus } from '../cache/pod-statuses.ts';
import type { ResolvedOptions } from '../status-manager-options.ts';
import type { AgentView } from './agent-view.ts';
import type { ApiCopies } from './api-copies.ts';
import { type ExplainView, type PodSyncPhase, phaseOf } from './explain.ts';
import { FlushWaiters } from './flush-waiters.ts';
import { RequestGate } from './request-gate.ts';
import { type SyncEvents, SyncRecords } from './sync-records.ts';
import { SyncWorker } from './sync-worker.ts';

/** Phases that a flush does not wait out, though the newest status is not on the apiserver as it stands here. */
const heldPhases = ['no-mirror-pod', 'terminal-phase-held-back', 'quarantined', 'deleting'] as const;
export type HeldPhase = (typeof heldPhases)[number];

export interface FlushResult {
  /** Pods that count as settled though the apiserver does not say what was set, each with the reason. */
  readonly held: readonly { readonly podUID: string; readonly phase: HeldPhase }[];
}

export interface StatusSyncOptions {
  readonly podClient: PodClient;
  readonly resolved: ResolvedOptions;
  readonly podStatuses: PodStatuses;
  readonly agent: AgentView;
  readonly copies: ApiCopies;
  readonly events: Omit<SyncEvents, 'changed'>;
  readonly beforeLook: (podUID: string, entry: VersionedPodStatus) => void;
}

/** Everything of a manager that talks to the apiserver, put together: gate, records, worker, and those who wait for it. */
export class StatusSync {
  readonly records: SyncRecords;
  readonly worker: SyncWorker;
  readonly #gate: RequestGate;
  readonly #waiters: FlushWaiters;
  readonly #podStatuses: PodStatuses;
  readonly #agent: AgentView;
  #running = false;

  constructor({ podClient, resolved, podStatuses, agent, copies, events, beforeLook }: StatusSyncOptions) {
    const { clock, random, metrics, logger, ownedConditionTypes, fetchBeforePatch, patchFormat, podSource } = resolved;
    this.#podStatuses = podStatuses;
    this.#agent = agent;
    this.#waiters = new FlushWaiters(clock);
    this.#gate = new RequestGate({
      clock,
      metrics,
      requestTimeoutMs: resolved.requestTimeoutMs,
      rateLimiter: resolved.rateLimiter,
      onOpen: () => this.worker.pump(),
    });
    this.records = new SyncRecords({
      podStatuses,
      agent,
      copies,
      gate: this.#gate,
      clock,
      random,
      events: {
        ...events,
        changed: (podUID) => this.#waiters.look(podUID),
      },
      enqueue: (podUID) => this.worker.enqueue(podUID),
    });
    const gate = this.#gate;
    this.worker = new SyncWorker(
      {
        podStatuses,
        agent,
        copies,
        gate,
        clock,
        logger,
        concurrency: resolved.concurrency,
        channelCapacity: resolved.channelCapacity,
        syncPeriodMs: resolved.syncPeriodMs,
        staleAfterMs: resolved.staleAfterMs,
        lastObservedAt: podSource && (() => podSource.lastObservedAt()),
        syncPodContext: {
          podClient,
          podStatuses,
          agent,
          copies,
          gate,
          clock,
          fetchBeforePatch,
          patchFormat,
          ownedConditionTypes,
        },
        beforeLook,
      },
      this.records,
    );
  }

  get view(): ExplainView {
    const { records } = this;
    return {
      podStatuses: this.#podStatuses,
      agent: this.#agent,
      records,
      running: this.#running,
      pausedUntil: this.#gate.pausedUntil,
    };
  }

  start(): void {
    this.#running = true;
    this.worker.start();
  }

  /** See `StatusManager.flush`. `podUIDs` are the pods waited for. */
  async flush(podUIDs: readonly string[], timeoutMs: number): Promise<FlushResult> {
    const versions = new Map<string, number>();
    const held = new Map<string, HeldPhase>();
    for (const podUID of podUIDs) versions.set(podUID, this.#podStatuses.get(podUID)?.version ?? 0);
    await this.#waiters.wait({
      versions,
      timeoutMs,
      isSettled: (podUID, version) => this.#isSettled(podUID, version),
      onSettled: (podUID) => {
        const phase = this.#heldPhase(podUID);
        if (phase !== undefined) held.set(podUID, phase);
      },
      reason: (podUID) => this.#reason(podUID),
    });
    // one that was held while others were waited for may have come through
    for (const podUID of held.keys()) if (phaseOf(this.view, podUID) === 'in-sync') held.delete(podUID);
    return { held: Array.from(held, ([podUID, phase]) => ({ podUID, phase })) };
  }

  /** Aborts what is in flight and resolves once it has settled. */
  async stop(): Promise<void> {
    const stopped = this.worker.stop();
    this.#gate.abort();
    await stopped;
    this.#running = false;
    this.#waiters.rejectAll(new StatusManagerError('ERR_STOPPED', 'The manager was stopped before every pod had settled'));
  }

  #isSettled(podUID: string, version: number): boolean {
    const entry = this.#podStatuses.get(podUID);
    if (entry === undefined || this.records.acknowledgedVersion(podUID) >= version) return true;
    const state = this.records.state(podUID);
    if (state?.inFlight) return false;
    const target = this.#agent.target(podUID);
    if (target === undefined) return true;
    const wait = state?.wait;
    if (wait?.kind !== 'gone' && wait?.kind !== 'quarantined') return false;
    // a copy that is not the one it waits on means another try, with the next batch
    return wait.version >= version && !state?.isOvertaken(this.#agent.freshest(target)?.resourceVersion);
  }

  #reason(podUID: string): string {
    const phase = phaseOf(this.view, podUID);
    const error = this.records.state(podUID)?.lastError;
    return error === undefined ? phase : `${phase}: ${error.message}`;
  }

  #heldPhase(podUID: string): HeldPhase | undefined {
    const phase: PodSyncPhase = phaseOf(this.view, podUID);
    return heldPhases.find((candidate) => candidate === phase);
  }
}
