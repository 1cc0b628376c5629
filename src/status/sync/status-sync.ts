import type { SteadyClock } from '../../base/clock.ts';
import type { BoundedChannel } from '../../base/concurrency/bounded-channel.ts';
import type { Emitter } from '../../base/concurrency/emitter.ts';
import type { RateLimiterOptions } from '../../base/concurrency/rate-limiter.ts';
import type { RunStateName } from '../../base/concurrency/run-state.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { MetricLabels } from '../../base/metrics/metric-definitions.ts';
import { beginAtZero, type Metrics, sampleGauges } from '../../base/metrics/metrics.ts';
import type { PodClient } from '../../client/resources/kube-pod-client.ts';
import type { StatusManagerEvents } from '../events/status-manager-events.ts';
import type { PodManager } from '../pods/pod-manager.ts';
import type { PodStatusReader, StatusCache } from '../status-cache.ts';
import type { AgentView } from './agent-view.ts';
import type { ApiCopies } from './api-copies.ts';
import { PodFinisher } from './finish-when-reclaimed.ts';
import { type FlushResult, FlushWaiters } from './flush-waiters.ts';
import { type PodEnd, PodProblems } from './pod-problems.ts';
import { type PodSourceView, StaleReads } from './pod-source-view.ts';
import { RequestGate } from './request-gate.ts';
import { StatusSyncLoop } from './status-sync-loop.ts';
import { type PodSyncPhase, SyncPhases, type UnsettledPod } from './sync-phase.ts';
import { SyncRecords } from './sync-records.ts';
import { SyncReports } from './sync-reports.ts';
import { SyncWorker } from './sync-worker.ts';

const countersFromZero = [
  'pod_status_manager_status_updates_total',
  'pod_status_manager_hints_dropped_total',
  'pod_status_manager_requests_total',
  'pod_status_manager_syncs_total',
  'pod_status_manager_retries_total',
  'pod_status_manager_repairs_total',
  'pod_status_manager_pauses_total',
] as const;

/** How long `stop` waits for requests to settle that it has aborted, in milliseconds. */
const abortGraceMs = 1000;

/** What `stop` could not write. */
export interface StopResult {
  /** Pods whose newest status is not on the apiserver, with where each stood when the drain ended. */
  readonly pods: readonly UnsettledPod[];
  /** Uids of pods with a request that had not settled: the pod client did not heed its signal. */
  readonly underWay: readonly string[];
}

export interface StatusSyncOptions {
  readonly podClient: PodClient;
  readonly podManager: PodManager;
  readonly cache: StatusCache;
  readonly agent: AgentView;
  readonly copies: ApiCopies;
  readonly source: PodSourceView;
  readonly podStatusChannel: BoundedChannel<string>;
  readonly events: Emitter<StatusManagerEvents>;
  readonly runState: { readonly name: RunStateName };
  readonly clock: SteadyClock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly concurrency: number;
  readonly syncPeriodMs: number;
  readonly staleAfterMs: number;
  readonly requestTimeoutMs: number;
  readonly rateLimiter: RateLimiterOptions | undefined;
  readonly fetchBeforePatch: 'when-unknown' | 'always';
  readonly patchFormat: 'strategic' | 'json';
  readonly ownedConditionTypes: ReadonlySet<string>;
  readonly terminateWhenReclaimed: boolean;
}

/** Everything of a manager that talks to the apiserver, put together: gate, records, worker, loop and flush. */
export class StatusSync {
  readonly records: SyncRecords;
  readonly phases: SyncPhases;
  readonly problems: PodProblems;
  readonly #cache: StatusCache;
  readonly #gate: RequestGate;
  readonly #waiters: FlushWaiters;
  readonly #finisher: PodFinisher;
  readonly #staleReads: StaleReads;
  readonly #reports: SyncReports;
  readonly #worker: SyncWorker;
  readonly #loop: StatusSyncLoop;
  readonly #options: StatusSyncOptions;
  #endGauges = (): void => {};

  constructor(options: StatusSyncOptions) {
    const { podClient, podManager, cache, agent, copies, source, podStatusChannel, events, runState } = options;
    const { clock, random, logger, metrics, concurrency, syncPeriodMs, fetchBeforePatch, patchFormat, ownedConditionTypes } =
      options;
    const { requestTimeoutMs, rateLimiter, staleAfterMs, terminateWhenReclaimed } = options;
    const podStatuses: PodStatusReader = cache;

    const gate = new RequestGate({ clock, metrics, requestTimeoutMs, rateLimiter, events });
    const records = new SyncRecords({ podStatuses, agent, copies, clock, random });
    const phases = new SyncPhases({ podStatuses, agent, records, gate, runState });
    const waiters = new FlushWaiters(clock, phases);
    const { apiStatusVersions } = records;
    const known = { podStatuses, agent, copies, records, apiStatusVersions };
    const context = { ...known, podClient, gate, clock, metrics, fetchBeforePatch, patchFormat, ownedConditionTypes };
    const finisher = new PodFinisher({ context: known, cache, logger, terminateWhenReclaimed });
    const reports = new SyncReports({ context, phases, clock, events, logger, metrics });
    const problems = new PodProblems({ cache, agent, records, phases, gate, clock });
    const worker = new SyncWorker({ context, cache, problems, finisher, waiters, reports, logger, concurrency });
    const staleReads = new StaleReads({ source, clock, staleAfterMs, syncPeriodMs });
    const loop = new StatusSyncLoop({
      worker,
      records,
      podStatusChannel,
      podManager,
      podStatuses,
      agent,
      copies,
      staleReads,
      clock,
      logger,
      metrics,
      syncPeriodMs,
    });

    this.records = records;
    this.phases = phases;
    this.problems = problems;
    this.#options = options;
    this.#cache = cache;
    this.#gate = gate;
    this.#waiters = waiters;
    this.#finisher = finisher;
    this.#staleReads = staleReads;
    this.#reports = reports;
    this.#worker = worker;
    this.#loop = loop;
  }

  /** When the pause of the whole client ends, in milliseconds since the epoch; undefined while there is none. */
  get pausedUntil(): number | undefined {
    return this.#gate.pausedUntil;
  }

  /** See `StatusManagerSnapshot.inFlight`. */
  get inFlight(): number {
    return this.#gate.underWay;
  }

  start(): void {
    this.#startMeasuring();
    this.#worker.start();
    this.#loop.start();
  }

  /** See `StatusManager.flush`. `podUIDs` are the pods waited for. */
  flush(podUIDs: readonly string[], timeoutMs: number): Promise<FlushResult> {
    const versions = podUIDs.map((podUID) => [podUID, this.#cache.get(podUID)?.version ?? 0] as const);
    return this.#waiters.wait(new Map(versions), timeoutMs);
  }

  /** Aborts what is in flight, and resolves once it has settled, or has not within {@link abortGraceMs}. */
  async stop(): Promise<StopResult> {
    const unwritten = this.unwritten();
    this.#waiters.rejectAll();
    const stopped = this.#worker.stop(abortGraceMs);
    await this.#loop.stop();
    const underWay = await stopped;
    this.#reports.stop();
    this.#endGauges();
    const left = new Set(this.unwritten().map(({ podUID }) => podUID));
    return { pods: unwritten.filter(({ podUID }) => left.has(podUID)), underWay };
  }

  /** What a manager that never started could not write. */
  stopIdle(): StopResult {
    const pods = this.unwritten().map((pod) => (pod.phase === 'pending' ? { ...pod, phase: 'not-started' as const } : pod));
    return { pods, underWay: [] };
  }

  /** The pods whose newest status is not on the apiserver, though the pod may be. */
  unwritten(): UnsettledPod[] {
    const pods = this.#cache.podUIDs().map((podUID) => this.phases.describe(podUID));
    return pods.filter(({ phase }) => phase !== 'in-sync' && phase !== 'gone' && phase !== 'deleting');
  }

  /** See `StatusManager.reconcile`. A pod that nothing watches is read. */
  reconcile(podUID: string): void {
    this.#worker.reconcile(podUID, !this.#staleReads.isWatched);
  }

  /** Drops the status of the pod, and all that is known of it but how it has ended. */
  forget(podUID: string, how: PodEnd): void {
    this.#worker.forget(podUID, how);
  }

  #startMeasuring(): void {
    const { metrics, clock } = this.#options;
    beginAtZero(metrics, countersFromZero);
    const { phases } = this;
    const gauges = { ...this.#options, podStatuses: this.#cache, phases, gate: this.#gate, reports: this.#reports };
    this.#endGauges = sampleGauges(metrics, clock, () => readStatusGauges(gauges));
  }

  /** The agent ends its pods itself from now on. */
  leaveFinishingToAgent(): void {
    this.#finisher.leaveToAgent();
  }
}

export interface StatusGaugesOptions {
  readonly podStatuses: PodStatusReader;
  readonly phases: SyncPhases;
  readonly reports: SyncReports;
  readonly podStatusChannel: BoundedChannel<string>;
  readonly gate: RequestGate;
  readonly metrics: Metrics;
}

type CountedPhase = MetricLabels['pod_status_manager_pods']['phase'];

/** The phases of pods whose newest status could be on the apiserver, and is not. */
const unsentPhases: ReadonlySet<PodSyncPhase> = new Set(['not-started', 'pending', 'in-flight', 'paused', 'backing-off']);

/** Sets the gauges that need a look at every pod. */
function readStatusGauges(options: StatusGaugesOptions): void {
  const { podStatuses, phases, reports, podStatusChannel, gate, metrics } = options;
  const counts: Record<CountedPhase, number> = {
    'not-started': 0,
    'in-sync': 0,
    'terminal-phase-held-back': 0,
    pending: 0,
    'in-flight': 0,
    paused: 0,
    'backing-off': 0,
    quarantined: 0,
    gone: 0,
    'no-mirror-pod': 0,
    deleting: 0,
  };
  let oldestMs = 0;
  for (const podUID of podStatuses.podUIDs()) {
    const phase = phases.phaseOf(podUID);
    if (phase === 'unknown' || phase === 'cache-only') continue;
    counts[phase]++;
    const entry = unsentPhases.has(phase) && !phases.isAcknowledged(podUID) ? podStatuses.get(podUID) : undefined;
    if (entry !== undefined) oldestMs = Math.max(oldestMs, reports.lackingMs(podUID, entry));
  }
  for (const [phase, count] of Object.entries(counts)) {
    metrics.set('pod_status_manager_pods', count, { phase: phase as CountedPhase });
  }
  metrics.set('pod_status_manager_oldest_unsent_change_age_seconds', oldestMs / 1000);
  metrics.set('pod_status_manager_channel_depth', podStatusChannel.size);
  metrics.set('pod_status_manager_channel_capacity', podStatusChannel.capacity);
  metrics.set('pod_status_manager_requests_in_flight', gate.underWay);
  metrics.set('pod_status_manager_pause_remaining_seconds', (gate.pauseLeftMs ?? 0) / 1000);
}
