import type { SteadyClock } from '../../base/clock.ts';
import { backoffMs } from '../../base/concurrency/backoff.ts';
import { LateMap, LateSet } from '../../base/concurrency/late-collections.ts';
import { endedFailures } from '../../base/failure-run.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { failureInWords } from '../../client/resources/api-problem.ts';
import type { ErrorClass } from '../../client/resources/error-class.ts';
import type { Verb } from '../events/status-manager-events.ts';
import type { PodStatusReader } from '../status-cache.ts';
import type { AgentView, ApiTarget } from './agent-view.ts';
import type { ApiCopies } from './api-copies.ts';
import { type Afterwards, PodSyncState, type Since } from './pod-sync-state.ts';
import { askedMs, backoff, type RequestFailure, Throttling } from './request-failure.ts';
import {
  type Acknowledged,
  isWaitOnCopy,
  type SyncAttempt,
  type SyncEffect,
  type SyncOutcome,
  type Wait,
  type WaitOnCopy,
} from './sync-context.ts';

/** Failures that say something about the server rather than about the pod. */
const serverFailures: ReadonlySet<ErrorClass> = new Set(['unavailable', 'timeout', 'broken-answer']);

/** What could not be done, by the request that failed. */
const undone: Readonly<Record<Verb, string>> = {
  get: 'the pod could not be read',
  patch: 'the status could not be written',
  delete: 'the pod could not be deleted',
};

export interface SyncRecordsOptions {
  readonly podStatuses: PodStatusReader;
  readonly agent: AgentView;
  readonly copies: ApiCopies;
  readonly clock: SteadyClock;
  readonly random: () => number;
}

/** What a sync of a pod begins with. */
export type SyncStart = Pick<SyncAttempt, 'fetch' | 'inDoubt' | 'waitsOn'>;

/**
 * What the sync worker knows of each pod: the version the apiserver took last, and what an unsent one waits for. Every
 * method that can have consequences returns them; nothing is called back.
 * `forget` drops the records of a pod, but for a request under way and a PATCH in doubt; `tidyUp` drops what is left of pods
 * that do not come back.
 */
export class SyncRecords {
  readonly #options: SyncRecordsOptions;
  readonly #apiStatusVersions = new ApiStatusVersions();
  readonly #states = new LateMap<string, PodSyncState>();
  /** Pods that back off because the server failed. */
  readonly #waitingForServer = new LateSet<string>();
  readonly #throttling: Throttling;

  constructor(options: SyncRecordsOptions) {
    this.#options = options;
    this.#throttling = new Throttling(options);
  }

  get apiStatusVersions(): ApiStatusVersionsReader {
    return this.#apiStatusVersions;
  }

  state(podUID: string): Readonly<PodSyncState> | undefined {
    return this.#states.get(podUID);
  }

  /** The pods of which more is known than their acknowledged version. */
  podUIDs(): Iterable<string> {
    return this.#states.keys();
  }

  /** The last version that the apiserver took of the pod; 0 for none. `target`: for a caller that has asked for it already. */
  acknowledgedVersion(podUID: string, target = this.#options.agent.target(podUID)): number {
    return target === undefined ? 0 : this.#apiStatusVersions.get(target.apiUID, podUID);
  }

  isAcknowledged(podUID: string, version: number, target?: ApiTarget): boolean {
    return this.acknowledgedVersion(podUID, target) >= version;
  }

  dropVersion(apiUID: string): void {
    this.#apiStatusVersions.delete(apiUID);
  }

  /** The next sync of the pod reads it from the apiserver first. */
  fetchNext(podUID: string): void {
    if (this.#options.podStatuses.get(podUID) !== undefined) this.#ensureState(podUID).fetch = true;
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
    state.begin(this.#now());
    return { fetch, inDoubt, waitsOn };
  }

  /**
   * The version is on the apiserver. Nothing is reported if it was there before, as when a DELETE is repeated. Ignored when
   * the pod's entry was dropped while the request was in flight.
   */
  acknowledge(podUID: string, acknowledged: Acknowledged): SyncEffect[] {
    const state = this.#states.get(podUID);
    if (state?.underWay === undefined || state.underWay.entryDropped) return [];
    const { copy, entry, patched } = acknowledged;
    state.attempt(entry.version);
    state.phaseHeldBack = acknowledged.phaseHeldBack;
    state.inDoubt = false;
    const apiUID = copy.uid || podUID;
    const isNews = patched || this.#apiStatusVersions.get(apiUID, podUID) < entry.version;
    this.#apiStatusVersions.set(apiUID, podUID, entry.version);
    const effects: SyncEffect[] = isNews ? [{ kind: 'acknowledged', podUID, acknowledged }] : [];
    if (!patched) return effects;
    this.#options.copies.record(copy);
    this.#throttling.succeed();
    return [...effects, ...this.#releaseThoseWaitingForServer(podUID)];
  }

  /** What follows from a sync that has ended. `pauseLeftMs`: what is left of the pause of the whole client, if there is one. */
  settle(podUID: string, outcome: SyncOutcome, pauseLeftMs: number | undefined): SyncEffect[] {
    const state = this.#ensureState(podUID);
    const before = state.waitedSince;
    if ('version' in outcome) state.attempt(outcome.version);
    const effects: SyncEffect[] = [];
    const entryDropped = this.#noteDroppedEntry(state);
    const wait = entryDropped ? undefined : this.#consequences(podUID, state, outcome, pauseLeftMs, effects);
    const forMs = entryDropped && 'failure' in outcome ? this.#throttling.pauseMs(outcome.failure, pauseLeftMs) : undefined;
    if (forMs !== undefined) effects.push({ kind: 'pause', forMs });
    if ('failure' in outcome && outcome.failure.settled !== undefined) state.settleOverdue(wait);
    else {
      effects.push(...this.#next(podUID, state));
      // a pod that was read, and is still what it waited on, has waited all along
      state.settle(wait, outcome.kind === 'waits-on' && before !== undefined ? before : this.#now());
    }
    this.#tidy(podUID);
    effects.push({ kind: 'changed', podUID });
    return effects;
  }

  /** The overdue request of the pod has settled. The pod is sent at once if its wait has ended meanwhile. */
  release(podUID: string): SyncEffect[] {
    const state = this.#states.get(podUID);
    if (state === undefined) return [];
    this.#noteDroppedEntry(state);
    const effects = this.#next(podUID, state);
    state.release();
    this.#tidy(podUID);
    effects.push({ kind: 'changed', podUID });
    return effects;
  }

  /** The time of a backoff has come. No effect when the pod waits for something else by now. */
  retryDue(podUID: string): SyncEffect[] {
    const state = this.#states.get(podUID);
    return state?.wait?.kind === 'backoff' ? this.#retryNow(podUID, state) : [];
  }

  /** Drops what is left of pods without an entry, unless a copy that is in doubt is still shown. */
  tidyUp(): void {
    const { podStatuses } = this.#options;
    for (const [podUID, state] of this.#states) {
      if (podStatuses.get(podUID) !== undefined || state.underWay !== undefined) continue;
      if (!state.inDoubt || !this.#isShown(podUID)) this.#states.delete(podUID);
    }
  }

  /** The pod's entry was dropped: only the marks are kept that a request is still in flight, or that the copy is in doubt. */
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

  #now(): Since {
    const { clock } = this.#options;
    return { at: clock.now(), elapsed: clock.elapsed() };
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

  /** True when the pod manager has a copy of the pod, or fails to say. */
  #isShown(podUID: string): boolean {
    return callGuarded(() => this.#options.agent.target(podUID)?.managed !== undefined, ignoreFailure) ?? true;
  }

  /** What is under way has settled. When its entry was dropped meanwhile, no copy shows what it has done to the pod. */
  #noteDroppedEntry(state: PodSyncState): boolean {
    const entryDropped = state.underWay?.entryDropped === true;
    if (entryDropped) state.inDoubt = true;
    return entryDropped;
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
    pauseLeftMs: number | undefined,
    effects: SyncEffect[],
  ): Wait | undefined {
    switch (outcome.kind) {
      case 'done':
      case 'no-mirror-pod':
        this.#succeed(podUID, state, effects);
        return undefined;
      case 'deleting':
        this.#succeed(podUID, state, effects);
        return { ...outcome, since: this.#options.copies.moment() };
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
        return this.#fail(podUID, state, outcome.failure, outcome.version, pauseLeftMs, effects);
    }
  }

  #succeed(podUID: string, state: PodSyncState, effects: SyncEffect[]): void {
    const { failures: attempt, failure } = state;
    state.succeed();
    if (failure === undefined) return;
    const ended = endedFailures({ attempt, since: failure.since }, this.#options.clock.now());
    effects.push({ kind: 'recovered', podUID, ended });
  }

  #fail(
    podUID: string,
    state: PodSyncState,
    failure: RequestFailure,
    version: number,
    pauseLeftMs: number | undefined,
    effects: SyncEffect[],
  ): Wait | undefined {
    const { errorClass, verb } = failure;
    // a refused one, too: a balancer that sends a request twice passes on one of the two answers
    if (verb === 'patch') state.inDoubt = true;
    if (errorClass === 'aborted') return undefined;
    const forMs = this.#throttling.pauseMs(failure, pauseLeftMs);
    if (forMs !== undefined) {
      effects.push({ kind: 'pause', forMs }, { kind: 'send', podUID }, this.#noteFailure(podUID, state, failure, forMs));
      return undefined;
    }
    const { clock, random } = this.#options;
    const afterMs = Math.max(askedMs(failure), backoffMs(state.failures + 1, { ...backoff, random }));
    effects.push({ kind: 'retry', podUID, afterMs }, this.#noteFailure(podUID, state, failure, afterMs));
    if (serverFailures.has(errorClass) && !state.releasedBySuccess) this.#waitingForServer.add(podUID);
    return { kind: 'backoff', version, retryAt: clock.now() + afterMs, overloaded: failure.answer.status === 503 };
  }

  /** The server answers again: the pods that waited for that need not wait longer, once. */
  #releaseThoseWaitingForServer(except: string): SyncEffect[] {
    const effects: SyncEffect[] = [];
    for (const podUID of this.#waitingForServer) {
      const state = this.#states.get(podUID);
      if (podUID === except || state?.wait?.kind !== 'backoff') continue;
      state.releasedBySuccess = true;
      effects.push(...this.#retryNow(podUID, state));
    }
    this.#waitingForServer.clear();
    return effects;
  }

  /** The pod is sent now, or as soon as its overdue request has settled. */
  #retryNow(podUID: string, state: PodSyncState): SyncEffect[] {
    this.endWait(podUID);
    if (!state.isOverdue) return [{ kind: 'send', podUID }];
    state.askFor('sync');
    return [];
  }

  #noteFailure(podUID: string, state: PodSyncState, failure: RequestFailure, retryInMs: number | undefined): SyncEffect {
    const { errorClass, cause, verb } = failure;
    const error = Object.freeze({ errorClass, message: failure.message, at: this.#options.clock.now() });
    state.fail(error, undone[verb], failureInWords(cause));
    return { kind: 'failed', podUID, failure: { errorClass, error: cause, attempt: state.failures, retryInMs } };
  }
}

/** One pod's version as the apiserver took it. */
interface TakenVersion {
  readonly podUID: string;
  readonly version: number;
}

export interface ApiStatusVersionsReader {
  readonly size: number;
  get(apiUID: string, podUID: string): number;
  uids(): Iterable<string>;
}

/**
 * API pod uid to the last version that the apiserver took. Each pod counts its versions by itself, and a mirror pod may
 * outlive its static pod: a version counts only for the pod that it is of.
 */
class ApiStatusVersions implements ApiStatusVersionsReader {
  readonly #taken = new LateMap<string, TakenVersion>();

  get size(): number {
    return this.#taken.size;
  }

  /** 0 when the apiserver has taken none of this pod. */
  get(apiUID: string, podUID: string): number {
    const taken = this.#taken.get(apiUID);
    return taken?.podUID === podUID ? taken.version : 0;
  }

  set(apiUID: string, podUID: string, version: number): void {
    this.#taken.set(apiUID, { podUID, version });
  }

  delete(apiUID: string): void {
    this.#taken.delete(apiUID);
  }

  /** The API pod uids. */
  uids(): Iterable<string> {
    return this.#taken.keys();
  }
}
