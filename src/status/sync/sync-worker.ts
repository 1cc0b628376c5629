import { setImmediate as nextTurn } from 'node:timers/promises';
import { BoundedChannel } from '../../concurrency/bounded-channel.ts';
import type { CancelTimer, Clock } from '../../seams/clock.ts';
import type { Logger } from '../../seams/logger.ts';
import type { PodStatuses, VersionedPodStatus } from '../cache/pod-statuses.ts';
import type { AgentView } from './agent-view.ts';
import type { ApiCopies } from './api-copies.ts';
import { isWaitOnCopy, type WaitOnCopy } from './pod-sync-state.ts';
import { ReadySet } from './ready-set.ts';
import { type Admission, RequestFailure, type RequestGate } from './request-gate.ts';
import { type BatchView, isUrgent, orphanedVersions, reasonToSync } from './sync-batch.ts';
import { type SyncOutcome, type SyncPodContext, syncPod } from './sync-pod.ts';
import type { SyncRecords } from './sync-records.ts';

/** Pods looked at in one go; then the event loop gets its turn. */
const batchSlice = 200;
/** Pods read again in one batch while the pod source is silent; more where there are so many that it takes more. */
const staleReadsAtLeast = 50;

export interface SyncWorkerOptions {
  readonly podStatuses: PodStatuses;
  readonly agent: AgentView;
  readonly copies: ApiCopies;
  readonly gate: RequestGate;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly concurrency: number;
  readonly channelCapacity: number;
  readonly syncPeriodMs: number;
  readonly staleAfterMs: number;
  /** When the pod source last heard from the apiserver; absent when nobody can say. */
  readonly lastObservedAt: (() => number | undefined) | undefined;
  readonly syncPodContext: Omit<SyncPodContext, 'acknowledge'>;
  /** Called with every pod of a batch before it is looked at. */
  readonly beforeLook: (podUID: string, entry: VersionedPodStatus) => void;
}

/**
 * The one consumer of `podStatusChannel`: takes hints, sends pods, at most `concurrency` at once and never one pod
 * twice at once, and looks at all of them every `syncPeriodMs`. With every hint lost the batch still sends everything.
 */
export class SyncWorker {
  readonly podStatusChannel: BoundedChannel<string>;
  readonly #options: SyncWorkerOptions;
  readonly #records: SyncRecords;
  readonly #context: SyncPodContext;
  readonly #view: BatchView;
  readonly #ready = new ReadySet();
  #inFlight = 0;
  #running = false;
  #startedAt = 0;
  #staleCursor = 0;
  #batch: Promise<void> | undefined;
  #cancelTick: CancelTimer | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(options: SyncWorkerOptions, records: SyncRecords) {
    const { agent, clock, copies, podStatuses } = options;
    this.#options = options;
    this.#records = records;
    this.podStatusChannel = new BoundedChannel(options.channelCapacity);
    this.#context = {
      ...options.syncPodContext,
      acknowledge: (podUID, acknowledged) => records.acknowledge(podUID, acknowledged),
    };
    const { ownedConditionTypes, patchFormat } = options.syncPodContext;
    const { apiStatusVersions } = records;
    this.#view = { agent, clock, copies, podStatuses, ownedConditionTypes, patchFormat, apiStatusVersions };
  }

  start(): void {
    this.#running = true;
    this.#startedAt = this.#options.clock.now();
    this.#armTick();
    this.#receive().catch((error: unknown) => this.#options.logger.error({ err: error }, 'the sync worker ended'));
  }

  /** Takes no more work; resolves when no sync is in flight. What is in flight is the gate's to abort. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#cancelTick?.();
    this.podStatusChannel.close();
    this.#records.endAllWaits();
    await this.#batch;
    if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
    // what failed by itself while it was being aborted has begun to wait again
    this.#records.endAllWaits();
  }

  /** Looks at this pod now, whatever it waits for. */
  reconcile(podUID: string): void {
    if (this.#options.podStatuses.get(podUID) === undefined) return;
    const state = this.#records.ensureState(podUID);
    state.endWait();
    if (state.inFlight) state.again = true;
    else this.enqueue(podUID);
  }

  /** Puts the pod among those that wait for a slot, and fills the free ones. */
  enqueue(podUID: string): void {
    this.#addReady(podUID);
    this.pump();
  }

  /** The pod's entry was dropped. */
  forget(podUID: string): void {
    this.#ready.delete(podUID);
    this.#records.forget(podUID);
  }

  /** Sends as many ready pods as there are free slots. No `await` in here: nothing changes under it. */
  pump(): void {
    const { concurrency, gate, podStatuses } = this.#options;
    while (this.#running && this.#inFlight < concurrency && this.#ready.size > 0) {
      const admission = gate.tryAdmit();
      if (admission === undefined) return;
      const podUID = this.#ready.take();
      if (podUID === undefined || podStatuses.get(podUID) === undefined) gate.putBack(admission);
      else this.#dispatch(podUID, admission);
    }
  }

  /** One look at every pod; in slices, so that the event loop is never held for long. */
  async syncBatch(): Promise<void> {
    const { podStatuses, beforeLook } = this.#options;
    for (const apiUID of orphanedVersions(this.#view)) {
      this.#records.dropVersion(apiUID);
      this.#options.copies.forget(apiUID);
    }
    const podUIDs = podStatuses.podUIDs();
    for (let i = 0; i < podUIDs.length; i++) {
      if (i > 0 && i % batchSlice === 0) {
        this.pump();
        await nextTurn();
        if (!this.#running) return;
      }
      const podUID = podUIDs[i] ?? '';
      const entry = podStatuses.get(podUID);
      if (entry === undefined) continue;
      this.#guarded(podUID, () => {
        beforeLook(podUID, entry);
        this.#look(podUID);
      });
    }
    this.#readStalePods(podUIDs);
    this.pump();
  }

  async #receive(): Promise<void> {
    const channel = this.podStatusChannel;
    while (await channel.readable()) {
      for (let podUID = channel.tryReceive(); podUID !== undefined; podUID = channel.tryReceive()) this.#hint(podUID);
      if (channel.takeOverflow()) for (const podUID of this.#options.podStatuses.podUIDs()) this.#hint(podUID);
      this.pump();
    }
  }

  /** An agent's pod manager that throws costs the one pod this look, and no other pod anything. */
  #guarded<T>(podUID: string, look: () => T): T | undefined {
    try {
      return look();
    } catch (error) {
      this.#options.logger.error({ err: error, podUID }, 'a pod could not be looked at; the next batch looks again');
      return undefined;
    }
  }

  /** The pod may have a version the apiserver has not. */
  #hint(podUID: string): void {
    this.#guarded(podUID, () => {
      const { podStatuses, agent } = this.#options;
      const entry = podStatuses.get(podUID);
      // a static pod without a mirror pod has nowhere to go: the batch finds it once it has one
      if (entry === undefined || agent.target(podUID) === undefined) return;
      if (this.#records.acknowledgedVersion(podUID) >= entry.version) return;
      const state = this.#records.state(podUID);
      if (state?.inFlight || state?.mayTry(entry.version) === false) return;
      state?.endWait();
      this.#addReady(podUID);
    });
  }

  #look(podUID: string): void {
    const { agent, podStatuses } = this.#options;
    const state = this.#records.state(podUID);
    if (state?.inFlight || this.#ready.has(podUID)) return;
    const target = agent.target(podUID);
    const copy = target && agent.freshest(target);
    const entry = podStatuses.get(podUID);
    if (entry === undefined || target === undefined) return;
    if (state?.isOvertaken(copy?.resourceVersion) || (state?.wait?.kind !== 'deleting' && state?.mayTry(entry.version))) {
      state.endWait();
    }
    const wait = state?.wait?.kind;
    if (wait !== undefined && wait !== 'deleting') return;
    const reason = reasonToSync(this.#view, podUID, entry);
    // an accepted DELETE is not sent again, but what somebody else writes meanwhile is corrected
    if (reason === undefined || (reason === 'delete' && wait === 'deleting')) return;
    // the version is sent again, and again after a failure, until the apiserver says the same
    if (reason === 'reconcile') this.#records.dropVersion(target.apiUID);
    this.#addReady(podUID);
  }

  #addReady(podUID: string): void {
    const { podStatuses, agent } = this.#options;
    const entry = podStatuses.get(podUID);
    if (entry === undefined || this.#records.state(podUID)?.inFlight) return;
    const urgent = this.#guarded(podUID, () => {
      const target = agent.target(podUID);
      return isUrgent(entry, target && agent.freshest(target));
    });
    this.#ready.add(podUID, urgent ?? false);
  }

  #dispatch(podUID: string, admission: Admission): void {
    const { logger, podStatuses } = this.#options;
    const waitsOn = this.#guarded(podUID, () => this.#waitOnCopy(podUID));
    const inDoubt = this.#guarded(podUID, () => this.#isInDoubt(podUID));
    const state = this.#records.begin(podUID);
    const { fetch } = state;
    state.fetch = false;
    this.#inFlight++;
    syncPod(this.#context, podUID, { admission, fetch, waitsOn, inDoubt })
      .catch((error: unknown): SyncOutcome => {
        logger.error({ err: error, podUID }, 'a sync failed in an unforeseen way');
        const version = podStatuses.get(podUID)?.version ?? 0;
        return { kind: 'failed', failure: new RequestFailure('patch', 'broken-answer', error), version };
      })
      .then((outcome) => this.#settle(podUID, outcome, admission))
      .catch((error: unknown) => logger.error({ err: error, podUID }, 'a settled sync could not be recorded'));
  }

  /** True when a request that failed may have written another status than the copy at hand shows. */
  #isInDoubt(podUID: string): boolean {
    const version = this.#options.podStatuses.get(podUID)?.version ?? 0;
    return (this.#records.state(podUID)?.failures ?? 0) > 0 && this.#records.acknowledgedVersion(podUID) < version;
  }

  /** What the pod's newest version waits on, where only another copy of the pod on the apiserver brings the next try. */
  #waitOnCopy(podUID: string): WaitOnCopy | undefined {
    const wait = this.#records.state(podUID)?.wait;
    if (wait === undefined || !isWaitOnCopy(wait)) return undefined;
    const dealtWith = wait.kind === 'quarantined' ? wait.version : this.#records.acknowledgedVersion(podUID);
    return (this.#options.podStatuses.get(podUID)?.version ?? 0) <= dealtWith ? wait : undefined;
  }

  #settle(podUID: string, outcome: SyncOutcome, admission: Admission): void {
    this.#inFlight--;
    const again = this.#records.state(podUID)?.again === true;
    this.#options.gate.putBack(admission);
    try {
      const changed = this.#records.finish(podUID, outcome);
      if (again) this.#addReady(podUID);
      else if (changed) this.#hint(podUID);
    } finally {
      this.pump();
      if (this.#inFlight === 0) this.#whenIdle?.();
    }
  }

  #armTick(): void {
    this.#cancelTick = this.#options.clock.setTimer(() => {
      if (!this.#running) return;
      this.#armTick();
      this.#batch ??= this.syncBatch()
        .catch((error: unknown) => this.#options.logger.error({ err: error }, 'a batch failed'))
        .finally(() => {
          this.#batch = undefined;
        });
    }, this.#options.syncPeriodMs);
  }

  /** A pod source that is silent for too long may be dead: the next few pods are read from the apiserver itself. */
  #readStalePods(podUIDs: readonly string[]): void {
    const { lastObservedAt, clock, staleAfterMs, syncPeriodMs } = this.#options;
    if (lastObservedAt === undefined) return;
    // a time in the future is one from before a clock was set back: it says as little as one long ago
    if (Math.abs(clock.now() - (lastObservedAt() ?? this.#startedAt)) <= staleAfterMs) return;
    const share = Math.ceil((podUIDs.length * syncPeriodMs) / staleAfterMs);
    const count = Math.min(podUIDs.length, Math.max(staleReadsAtLeast, share));
    for (let i = 0; i < count; i++) {
      const podUID = podUIDs[this.#staleCursor++ % podUIDs.length] ?? '';
      const state = this.#records.ensureState(podUID);
      // one that waits on another copy will hear of it in no other way
      if (state.inFlight || !(state.wait === undefined || isWaitOnCopy(state.wait))) continue;
      state.fetch = true;
      this.#addReady(podUID);
    }
  }
}
