import type { ErrorClass } from '../../client/error-class.ts';
import { backoffMs, longestRetryAfterMs } from '../../concurrency/retry.ts';
import type { Clock } from '../../seams/clock.ts';
import type { PodStatuses } from '../cache/pod-statuses.ts';
import type { AgentView } from './agent-view.ts';
import type { ApiCopies } from './api-copies.ts';
import { PodSyncState } from './pod-sync-state.ts';
import type { RequestFailure, RequestGate } from './request-gate.ts';
import type { Acknowledged, SyncOutcome } from './sync-pod.ts';

const backoff = { baseMs: 1000, capMs: 60_000 } as const;
/** Failures that say something about the server rather than about the pod. */
const serverFailures: ReadonlySet<ErrorClass> = new Set(['unavailable', 'timeout', 'broken-answer']);

export interface SyncRecordsOptions {
  readonly podStatuses: PodStatuses;
  readonly agent: AgentView;
  readonly copies: ApiCopies;
  readonly gate: RequestGate;
  readonly clock: Clock;
  readonly random: () => number;
  readonly events: SyncEvents;
  /** A pod's wait is over, or it is to wait for nothing but a slot. */
  readonly enqueue: (podUID: string) => void;
}

export interface SyncFailure {
  readonly errorClass: ErrorClass;
  readonly error: unknown;
  /** Failures of this pod in a row. */
  readonly attempts: number;
  /** Undefined when only a new status or another API copy brings the next try. */
  readonly retryInMs: number | undefined;
}

export interface SyncEvents {
  /** The entry's version is on the apiserver. */
  readonly acknowledged: (podUID: string, acknowledged: Acknowledged) => void;
  readonly failed: (podUID: string, failure: SyncFailure) => void;
  /** The apiserver has another pod of this name, or deleted ours: the entry is to be dropped. */
  readonly ended: (podUID: string, how: 'recreated' | 'deleted') => void;
  /** Something has changed that a flush may wait for. */
  readonly changed: (podUID: string) => void;
}

/**
 * What the sync worker knows of each pod: the version the apiserver took last, and what an unsent one waits for.
 * Every per-pod record is dropped in `forget`, and nowhere else.
 */
export class SyncRecords {
  readonly #options: SyncRecordsOptions;
  /** API pod uid to the last version the apiserver took. */
  readonly #apiStatusVersions = new Map<string, number>();
  readonly #states = new Map<string, PodSyncState>();
  /** Pods that wait because the server failed, not they. */
  readonly #waitingForServer = new Set<string>();
  #throttledInARow = 0;

  constructor(options: SyncRecordsOptions) {
    this.#options = options;
  }

  get apiStatusVersions(): ReadonlyMap<string, number> {
    return this.#apiStatusVersions;
  }

  state(podUID: string): PodSyncState | undefined {
    return this.#states.get(podUID);
  }

  ensureState(podUID: string): PodSyncState {
    let state = this.#states.get(podUID);
    if (state === undefined) {
      state = new PodSyncState();
      this.#states.set(podUID, state);
    }
    return state;
  }

  acknowledgedVersion(podUID: string): number {
    const target = this.#options.agent.target(podUID);
    return (target && this.#apiStatusVersions.get(target.apiUID)) ?? 0;
  }

  dropVersion(apiUID: string): void {
    this.#apiStatusVersions.delete(apiUID);
  }

  /** Records the version; ignored when the entry it belonged to was dropped while the request was in flight. */
  acknowledge(podUID: string, acknowledged: Acknowledged): void {
    const state = this.ensureState(podUID);
    if (state.life !== state.lifeInFlight) return;
    const { copy, entry, patched } = acknowledged;
    state.attempted = entry.version;
    this.#apiStatusVersions.set(copy.uid || podUID, entry.version);
    if (patched) {
      this.#options.copies.record(copy);
      this.#throttledInARow = 0;
      this.#releaseThoseWaitingForServer(podUID);
    }
    state.phaseHeldBack = acknowledged.phaseHeldBack;
    this.#options.events.acknowledged(podUID, acknowledged);
  }

  begin(podUID: string): PodSyncState {
    const state = this.ensureState(podUID);
    // what it waited for no longer counts, and a timer left behind would end the next wait
    state.endWait();
    state.inFlight = true;
    state.lifeInFlight = state.life;
    state.again = false;
    state.attempted = 0;
    return state;
  }

  /** Draws the consequences of a sync that has settled. True when a look at the pod is due at once: it changed meanwhile. */
  finish(podUID: string, outcome: SyncOutcome): boolean {
    const state = this.ensureState(podUID);
    state.inFlight = false;
    const sameLife = state.life === state.lifeInFlight;
    if (sameLife) this.#apply(podUID, state, outcome);
    if ('version' in outcome) state.attempted = outcome.version;
    const version = this.#options.podStatuses.get(podUID)?.version ?? 0;
    this.tidy(podUID);
    this.#options.events.changed(podUID);
    return !sameLife || version > state.attempted;
  }

  /** The pod's entry was dropped: nothing is kept of it but the mark that a request is still in flight. */
  forget(podUID: string): void {
    const { agent, copies, events } = this.#options;
    for (const uid of new Set([podUID, agent.target(podUID)?.apiUID ?? podUID])) {
      this.#apiStatusVersions.delete(uid);
      copies.forget(uid);
    }
    this.#waitingForServer.delete(podUID);
    const old = this.#states.get(podUID);
    old?.endWait();
    this.#states.delete(podUID);
    if (old?.inFlight) {
      const next = this.ensureState(podUID);
      next.inFlight = true;
      next.life = old.life + 1;
      next.lifeInFlight = old.lifeInFlight;
    }
    events.changed(podUID);
  }

  tidy(podUID: string): void {
    if (this.#states.get(podUID)?.isIdle) this.#states.delete(podUID);
  }

  endAllWaits(): void {
    for (const state of this.#states.values()) state.endWait();
    this.#waitingForServer.clear();
  }

  #apply(podUID: string, state: PodSyncState, outcome: SyncOutcome): void {
    const { events } = this.#options;
    switch (outcome.kind) {
      case 'acknowledged':
      case 'nothing-to-sync':
      case 'no-mirror-pod':
        state.succeeded();
        return;
      case 'deleting':
        state.succeeded();
        state.wait = { kind: 'deleting', resourceVersion: outcome.resourceVersion };
        return;
      case 'gone':
        state.succeeded();
        state.wait = outcome;
        return;
      case 'waits-on':
        state.wait = outcome.wait;
        return;
      case 'deleted':
      case 'recreated':
        events.ended(podUID, outcome.kind);
        return;
      case 'invalid':
        this.#noteFailure(state, outcome.failure);
        state.wait = { kind: 'quarantined', version: outcome.version, resourceVersion: outcome.resourceVersion };
        this.#tell(podUID, state, outcome.failure, undefined);
        return;
      case 'failed':
        this.#fail(podUID, state, outcome.failure, outcome.version);
    }
  }

  #fail(podUID: string, state: PodSyncState, failure: RequestFailure, version: number): void {
    const { clock, random, enqueue } = this.#options;
    if (failure.errorClass === 'aborted') return;
    this.#noteFailure(state, failure);
    const asked = retryAfterMs(failure.cause);
    if (failure.errorClass === 'throttled' || failure.errorClass === 'unauthorized') {
      const pauseMs = this.#pauseAll(asked);
      enqueue(podUID);
      this.#tell(podUID, state, failure, pauseMs);
      return;
    }
    const waitMs = Math.max(asked ?? 0, backoffMs(state.failures, { ...backoff, random }));
    const retry = (): void => {
      this.#waitingForServer.delete(podUID);
      state.wait = undefined;
      enqueue(podUID);
    };
    const overloaded = statusOf(failure.cause) === 503;
    const cancel = clock.setTimer(retry, waitMs);
    state.wait = { kind: 'backoff', version, retryAt: clock.now() + waitMs, overloaded, cancel };
    if (serverFailures.has(failure.errorClass) && !state.releasedBySuccess) this.#waitingForServer.add(podUID);
    this.#tell(podUID, state, failure, waitMs);
  }

  /** Stops the whole client; returns for how long. Requests that were under way together and failed together are one failure. */
  #pauseAll(asked: number | undefined): number {
    const { clock, random, gate } = this.#options;
    const { pausedUntil } = gate;
    if (pausedUntil !== undefined && asked === undefined) return Math.max(0, pausedUntil - clock.now());
    if (pausedUntil === undefined) this.#throttledInARow++;
    const pauseMs = asked ?? backoffMs(this.#throttledInARow, { ...backoff, random });
    gate.pause(pauseMs);
    return pauseMs;
  }

  /** The server answers again: whoever waited for that need not wait longer, once. */
  #releaseThoseWaitingForServer(except: string): void {
    for (const podUID of this.#waitingForServer) {
      const state = this.#states.get(podUID);
      if (podUID === except || state?.wait?.kind !== 'backoff') continue;
      state.releasedBySuccess = true;
      state.endWait();
      this.#options.enqueue(podUID);
    }
    this.#waitingForServer.clear();
  }

  #noteFailure(state: PodSyncState, { errorClass, cause }: RequestFailure): void {
    state.failures++;
    state.lastError = { errorClass, message: cause instanceof Error ? cause.message : errorClass, at: this.#options.clock.now() };
  }

  #tell(podUID: string, state: PodSyncState, { errorClass, cause }: RequestFailure, retryInMs: number | undefined): void {
    this.#options.events.failed(podUID, { errorClass, error: cause, attempts: state.failures, retryInMs });
  }
}

function retryAfterMs(cause: unknown): number | undefined {
  const value = typeof cause === 'object' && cause !== null && 'retryAfterMs' in cause ? cause.retryAfterMs : undefined;
  return typeof value === 'number' && value >= 0 ? Math.min(value, longestRetryAfterMs) : undefined;
}

function statusOf(cause: unknown): unknown {
  return typeof cause === 'object' && cause !== null && 'status' in cause ? cause.status : undefined;
}
