import type { ErrorClass } from '../../client/error-class.ts';
import { backoffMs, longestRetryAfterMs } from '../../concurrency/retry.ts';
import type { Clock } from '../../seams/clock.ts';
import { callGuarded, ignoreFailure } from '../../seams/guard.ts';
import type { PodStatusReader } from '../cache/pod-statuses.ts';
import type { AgentView } from './agent-view.ts';
import type { ApiCopies } from './api-copies.ts';
import { type Afterwards, PodSyncState } from './pod-sync-state.ts';
import type { RequestFailure } from './request-failure.ts';
import type { Acknowledged, SyncEffect, SyncOutcome } from './sync-outcome.ts';
import { isWaitOnCopy, type Wait, type WaitOnCopy } from './wait.ts';

const backoff = { baseMs: 1000, capMs: 60_000 } as const;
/** Failures that say something about the server rather than about the pod. */
const serverFailures: ReadonlySet<ErrorClass> = new Set(['unavailable', 'timeout', 'broken-answer']);

export interface SyncRecordsOptions {
  readonly podStatuses: PodStatusReader;
  readonly agent: AgentView;
  readonly copies: ApiCopies;
  readonly clock: Clock;
  readonly random: () => number;
}

/** What a sync of a pod begins with. */
export interface SyncStart {
  /** Read the pod from the apiserver first, whatever is known of it. */
  readonly fetch: boolean;
  /** A PATCH may have changed the pod since the copy at hand. */
  readonly inDoubt: boolean;
  /** What the newest version waits on: unless the pod turns out to have changed, it goes on waiting. */
  readonly waitsOn: WaitOnCopy | undefined;
}

/**
 * What the sync worker knows of each pod: the version the apiserver took last, and what an unsent one waits for. Every
 * method that can have consequences returns them; nothing is called back.
 * Each record of a pod is dropped in `forget`, and nowhere else.
 */
export class SyncRecords {
  readonly #options: SyncRecordsOptions;
  /** API pod uid to the last version the apiserver took. */
  readonly #apiStatusVersions = new Map<string, number>();
  readonly #states = new Map<string, PodSyncState>();
  /** Pods that back off because the server failed. */
  readonly #waitingForServer = new Set<string>();
  #throttledInARow = 0;

  constructor(options: SyncRecordsOptions) {
    this.#options = options;
  }

  get apiStatusVersions(): ReadonlyMap<string, number> {
    return this.#apiStatusVersions;
  }

  state(podUID: string): Readonly<PodSyncState> | undefined {
    return this.#states.get(podUID);
  }

  acknowledgedVersion(podUID: string): number {
    const target = this.#options.agent.target(podUID);
    return (target && this.#apiStatusVersions.get(target.apiUID)) ?? 0;
  }

  dropVersion(apiUID: string): void {
    this.#apiStatusVersions.delete(apiUID);
  }

  /** The next sync of the pod reads it from the apiserver first. */
  fetchNext(podUID: string): void {
    this.#ensureState(podUID).fetch = true;
  }

  /** Something is to happen once the sync in flight has settled. False when none is in flight: nothing was noted. */
  askFor(podUID: string, afterwards: Afterwards): boolean {
    const state = this.#states.get(podUID);
    state?.askFor(afterwards);
    return state?.underWay !== undefined;
  }

  endWait(podUID: string): void {
    this.#waitingForServer.delete(podUID);
    this.#states.get(podUID)?.endWait();
  }

  endAllWaits(): void {
    for (const state of this.#states.values()) state.endWait();
    this.#waitingForServer.clear();
  }

  begin(podUID: string): SyncStart {
    const state = this.#ensureState(podUID);
    const { wait, fetch, inDoubt } = state;
    const waitsOn = wait && isWaitOnCopy(wait) && this.#isDealtWith(podUID, wait) ? wait : undefined;
    state.begin();
    return { fetch, inDoubt, waitsOn };
  }

  /** The version is on the apiserver. Ignored when its entry was dropped while the request was in flight. */
  acknowledge(podUID: string, acknowledged: Acknowledged): SyncEffect[] {
    const state = this.#states.get(podUID);
    if (state?.underWay === undefined || state.underWay.entryDropped) return [];
    const { copy, entry, patched } = acknowledged;
    state.attempt(entry.version);
    state.phaseHeldBack = acknowledged.phaseHeldBack;
    state.inDoubt = false;
    this.#apiStatusVersions.set(copy.uid || podUID, entry.version);
    const effects: SyncEffect[] = [{ kind: 'acknowledged', podUID, acknowledged }];
    if (!patched) return effects;
    this.#options.copies.record(copy);
    this.#throttledInARow = 0;
    return [...effects, ...this.#releaseThoseWaitingForServer(podUID)];
  }

  /** What follows from a sync that has ended. `pausedUntil`: when the pause of the whole client ends, if there is one. */
  settle(podUID: string, outcome: SyncOutcome, pausedUntil: number | undefined): SyncEffect[] {
    const state = this.#ensureState(podUID);
    if ('version' in outcome) state.attempt(outcome.version);
    const effects: SyncEffect[] = [];
    const entryDropped = state.underWay?.entryDropped === true;
    // the next life of the pod has its status cached already
    if (entryDropped && this.#options.podStatuses.get(podUID) !== undefined) state.inDoubt = true;
    const wait = entryDropped ? undefined : this.#consequences(podUID, state, outcome, pausedUntil, effects);
    if ('failure' in outcome && outcome.failure.settled !== undefined) state.settleOverdue(wait);
    else {
      effects.push(...this.#next(podUID, state));
      state.settle(wait);
    }
    this.#tidy(podUID);
    effects.push({ kind: 'changed', podUID });
    return effects;
  }

  /** The overdue request of the pod has settled: the pod is sent again once its wait is over. */
  release(podUID: string): SyncEffect[] {
    const state = this.#states.get(podUID);
    if (state === undefined) return [];
    const effects = this.#next(podUID, state);
    state.release();
    const { wait } = state;
    if (wait?.kind === 'backoff' && wait.retryAt <= this.#options.clock.now()) effects.push(this.#retryNow(podUID));
    this.#tidy(podUID);
    effects.push({ kind: 'changed', podUID });
    return effects;
  }

  /** The time of a backoff has come. No effect when the pod waits for something else by now. */
  retryDue(podUID: string): SyncEffect[] {
    const state = this.#states.get(podUID);
    return state?.wait?.kind === 'backoff' && !state.isOverdue ? [this.#retryNow(podUID)] : [];
  }

  /** The pod's entry was dropped: nothing is kept of it but the mark that a request is still in flight. */
  forget(podUID: string): void {
    const { agent, copies } = this.#options;
    // when the pod manager cannot name the mirror pod now, the next batch drops its version
    const target = callGuarded(() => agent.target(podUID), ignoreFailure);
    for (const uid of new Set([podUID, target?.apiUID ?? podUID])) {
      this.#apiStatusVersions.delete(uid);
      copies.forget(uid);
    }
    this.#waitingForServer.delete(podUID);
    agent.forget(podUID);
    this.#states.get(podUID)?.forget();
    this.#tidy(podUID);
  }

  #ensureState(podUID: string): PodSyncState {
    let state = this.#states.get(podUID);
    if (state === undefined) {
      state = new PodSyncState();
      this.#states.set(podUID, state);
    }
    return state;
  }

  #tidy(podUID: string): void {
    if (this.#states.get(podUID)?.isForgettable) this.#states.delete(podUID);
  }

  /** True when the wait is about the newest version: nothing newer was set. */
  #isDealtWith(podUID: string, wait: WaitOnCopy): boolean {
    const version = wait.kind === 'quarantined' ? wait.version : this.acknowledgedVersion(podUID);
    return (this.#options.podStatuses.get(podUID)?.version ?? 0) <= version;
  }

  /** What comes next for a pod that is free again: what was asked for meanwhile, or a hint when it changed meanwhile. */
  #next(podUID: string, { underWay }: PodSyncState): SyncEffect[] {
    if (underWay === undefined) return [];
    const { afterwards, entryDropped, attempted } = underWay;
    if (afterwards === 'sync') return [{ kind: 'send', podUID }];
    const version = this.#options.podStatuses.get(podUID)?.version ?? 0;
    const effects: SyncEffect[] = entryDropped || version > attempted ? [{ kind: 'hint', podUID }] : [];
    return afterwards === 'look' ? [...effects, { kind: 'look', podUID }] : effects;
  }

  /** Adds what follows from the outcome to `effects`, and returns what the pod waits for now. */
  #consequences(
    podUID: string,
    state: PodSyncState,
    outcome: SyncOutcome,
    pausedUntil: number | undefined,
    effects: SyncEffect[],
  ): Wait | undefined {
    switch (outcome.kind) {
      case 'done':
      case 'no-mirror-pod':
        state.succeed();
        return undefined;
      case 'deleting':
      case 'gone':
        state.succeed();
        return outcome;
      case 'waits-on':
        return outcome.wait;
      case 'deleted':
      case 'recreated':
        effects.push({ kind: 'ended', podUID, how: outcome.kind });
        return undefined;
      case 'invalid':
        effects.push(this.#noteFailure(podUID, state, outcome.failure, undefined));
        return { kind: 'quarantined', version: outcome.version, resourceVersion: outcome.resourceVersion };
      case 'failed':
        return this.#fail(podUID, state, outcome.failure, outcome.version, pausedUntil, effects);
    }
  }

  #fail(
    podUID: string,
    state: PodSyncState,
    failure: RequestFailure,
    version: number,
    pausedUntil: number | undefined,
    effects: SyncEffect[],
  ): Wait | undefined {
    const { errorClass, verb } = failure;
    // a refused one, too: a balancer that sends a request twice passes on one of the two answers
    if (verb === 'patch') state.inDoubt = true;
    if (errorClass === 'aborted') return undefined;
    const askedMs = Math.min(failure.failure.retryAfterMs ?? 0, longestRetryAfterMs);
    if (errorClass === 'throttled' || errorClass === 'unauthorized') {
      const forMs = this.#pauseMs(askedMs, pausedUntil);
      effects.push({ kind: 'pause', forMs }, { kind: 'send', podUID }, this.#noteFailure(podUID, state, failure, forMs));
      return undefined;
    }
    const { clock, random } = this.#options;
    const afterMs = Math.max(askedMs, backoffMs(state.failures + 1, { ...backoff, random }));
    effects.push({ kind: 'retry', podUID, afterMs }, this.#noteFailure(podUID, state, failure, afterMs));
    if (serverFailures.has(errorClass) && !state.releasedBySuccess) this.#waitingForServer.add(podUID);
    return { kind: 'backoff', version, retryAt: clock.now() + afterMs, overloaded: failure.failure.status === 503 };
  }

  /**
   * How long the whole client pauses: what the server asked for, and never less than our own backoff. Requests that were
   * under way together and failed together count as one failure.
   */
  #pauseMs(askedMs: number, pausedUntil: number | undefined): number {
    const { clock, random } = this.#options;
    const leftMs = pausedUntil === undefined ? undefined : Math.max(0, pausedUntil - clock.now());
    if (leftMs !== undefined) return Math.max(askedMs, leftMs);
    this.#throttledInARow++;
    return Math.max(askedMs, backoffMs(this.#throttledInARow, { ...backoff, random }));
  }

  /** The server answers again: the pods that waited for that need not wait longer, once. */
  #releaseThoseWaitingForServer(except: string): SyncEffect[] {
    const effects: SyncEffect[] = [];
    for (const podUID of this.#waitingForServer) {
      const state = this.#states.get(podUID);
      if (podUID === except || state?.wait?.kind !== 'backoff' || state.isOverdue) continue;
      state.releasedBySuccess = true;
      effects.push(this.#retryNow(podUID));
    }
    this.#waitingForServer.clear();
    return effects;
  }

  #retryNow(podUID: string): SyncEffect {
    this.endWait(podUID);
    return { kind: 'send', podUID };
  }

  #noteFailure(podUID: string, state: PodSyncState, failure: RequestFailure, retryInMs: number | undefined): SyncEffect {
    const { errorClass, cause } = failure;
    state.fail({ errorClass, message: failure.message, at: this.#options.clock.now() });
    return { kind: 'failed', podUID, failure: { errorClass, error: cause, attempts: state.failures, retryInMs } };
  }
}
