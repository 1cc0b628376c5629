import { KeyedTimers } from '../../base/concurrency/timers.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import type { StatusCache } from '../status-cache.ts';
import type { PodFinisher } from './finish-when-reclaimed.ts';
import type { FlushWaiters } from './flush-waiters.ts';
import { isUrgent, type LookContext, lookAt } from './look.ts';
import type { PodEnd, PodProblems } from './pod-problems.ts';
import { RequestFailure } from './request-failure.ts';
import { isWork, mayTry, type SyncContext, type SyncEffect, type SyncFailure, type SyncOutcome } from './sync-context.ts';
import { countedSync } from './sync-pod.ts';
import type { SyncStart } from './sync-records.ts';
import type { SendCause, SyncReports } from './sync-reports.ts';
import { SyncSlots, type Turn } from './sync-slots.ts';

export interface SyncWorkerOptions {
  readonly context: SyncContext & LookContext;
  readonly cache: StatusCache;
  readonly problems: PodProblems;
  readonly finisher: PodFinisher;
  readonly waiters: FlushWaiters;
  readonly reports: SyncReports;
  readonly logger: Logger;
  readonly concurrency: number;
}

/**
 * Sends pods: at most `concurrency` at once, and never one pod twice at once. What follows from a sync that has ended comes
 * back as a list of effects, which this class alone carries out.
 */
export class SyncWorker {
  readonly #options: SyncWorkerOptions;
  readonly #context: SyncContext & LookContext;
  readonly #slots: SyncSlots;
  readonly #retries: KeyedTimers<string>;
  #running = false;

  constructor(options: SyncWorkerOptions) {
    this.#options = options;
    this.#context = options.context;
    this.#retries = new KeyedTimers(options.context.clock);
    this.#slots = new SyncSlots({ ...options.context, concurrency: options.concurrency });
  }

  start(): void {
    this.#running = true;
  }

  /**
   * Takes no more work, and gives up what is under way. Resolves once every sync has ended, and then when the requests that
   * outlive their syncs have settled, or have not within `limitMs`: to the pods of which one has not.
   */
  async stop(limitMs: number): Promise<string[]> {
    const { gate, records } = this.#context;
    this.#running = false;
    this.#retries.cancelAll();
    records.endAllWaits();
    gate.abort();
    const left = await this.#slots.whenSettled(limitMs);
    // a request that failed by itself during the abort has begun a wait
    records.endAllWaits();
    return left;
  }

  /** Sends this pod as soon as a slot is free, whatever it waits for. `fetch`: after reading it. */
  reconcile(podUID: string, fetch: boolean): void {
    const { records, podStatuses } = this.#context;
    if (podStatuses.get(podUID) === undefined) return;
    if (fetch) records.fetchNext(podUID);
    this.#endWait(podUID);
    if (!records.askFor(podUID, 'sync')) this.send(podUID, 'asked');
    this.pump();
  }

  /**
   * Drops the status of the pod, and all that is known of it but how it has ended. A flush that waits for a pod whose name another
   * one has by now lists it as gone: its status was not written.
   */
  forget(podUID: string, how: PodEnd): void {
    this.#options.problems.noteEnd(podUID, how);
    this.#slots.delete(podUID);
    this.#retries.cancel(podUID);
    this.#options.reports.forget(podUID);
    this.#options.cache.drop(podUID);
    this.#context.records.forget(podUID);
    this.#guarded(podUID, () => this.#options.waiters.look(podUID, how === 'recreated' ? 'gone' : undefined));
  }

  /** The pod may have a version that the apiserver has not. */
  hint(podUID: string): void {
    this.#guarded(podUID, () => {
      const { agent, podStatuses, records } = this.#context;
      const entry = podStatuses.get(podUID);
      if (entry === undefined) return;
      agent.notePod(podUID);
      // a static pod without a mirror pod has nowhere to go; a look finds it once it has one
      const target = agent.target(podUID);
      if (target === undefined || records.isAcknowledged(podUID, entry.version, target)) return;
      const state = records.state(podUID);
      if (state?.underWay !== undefined || !mayTry(state?.wait, entry.version)) return;
      this.#endWait(podUID);
      this.send(podUID);
    });
  }

  /** Looks at a pod as each batch does with every pod. */
  look(podUID: string): void {
    this.#guarded(podUID, () => {
      // a batch goes on with the pods it began with: this one may have been dropped meanwhile
      if (this.#context.podStatuses.get(podUID) === undefined) return;
      this.#context.agent.notePod(podUID);
      this.#options.finisher.finishIfDue(podUID);
      if (!this.#slots.isReady(podUID)) this.#follow(podUID);
    });
  }

  /** The pod manager has told of a change: of the pod with this uid, or of the pod that this mirror pod stands for. */
  lookAtChange(uid: string): void {
    this.#guarded(uid, () => {
      const { agent, copies, podStatuses, records } = this.#context;
      const podUID = agent.translate(uid);
      if (podStatuses.get(podUID) === undefined || records.askFor(podUID, 'look')) return;
      const target = agent.target(podUID);
      // most changes are our own last write, which the watch shows
      const isEcho = target !== undefined && copies.isOwn(target.apiUID, target.managed);
      if (!isEcho || records.state(podUID) !== undefined) this.look(podUID);
    });
  }

  /** A batch begins: every pod may be repaired once more. */
  beginBatch(): void {
    this.#options.problems.beginBatch();
  }

  /** Puts the pod among those that wait for a slot. */
  send(podUID: string, cause?: SendCause): void {
    const { agent, podStatuses, records } = this.#context;
    const entry = podStatuses.get(podUID);
    if (entry === undefined || records.state(podUID)?.underWay !== undefined) return;
    const urgent = this.#guarded(podUID, () => {
      const target = agent.target(podUID);
      return isUrgent(entry, target && agent.freshest(target));
    });
    if (!this.#slots.isReady(podUID)) this.#options.reports.sending(podUID, entry, urgent ?? false, cause);
    this.#slots.add(podUID, urgent ?? false);
  }

  /** The same, after the pod was read from the apiserver. A pod that waits on the copy that is read goes on waiting. */
  read(podUID: string): void {
    this.#context.records.fetchNext(podUID);
    this.send(podUID, 'read');
  }

  /** Begins as many syncs of ready pods as there are free slots. */
  pump(): void {
    while (this.#running && this.#slots.hasTurn) {
      const turn = this.#slots.next();
      if (turn === undefined) {
        this.#slots.whenOpen(() => this.pump());
        return;
      }
      if (!this.#begin(turn)) this.#slots.end(turn);
    }
  }

  #follow(podUID: string): void {
    const finding = lookAt(this.#context, podUID);
    if (finding.kind === 'nothing') return;
    if (finding.kind === 'over') {
      this.#options.logger.info(
        this.#options.cache.fieldsOf(podUID),
        'the pod is no longer there and nothing of it runs; its status is dropped',
      );
      this.forget(podUID, 'over');
      return;
    }
    if (finding.kind === 'to-read') this.read(podUID);
    else if (finding.kind === 'wait-is-over' || finding.waitIsOver) this.#endWait(podUID);
    if (finding.kind !== 'to-send') return;
    // a pod that another writer changes again and again is repaired once a sync period
    if (finding.reason === 'reconcile') {
      if (this.#options.problems.wasRepaired(podUID)) return;
      this.#repair(podUID);
      this.#context.metrics.increment('pod_status_manager_repairs_total');
      // the version is sent again, and again after a failure, until the apiserver says the same
      this.#context.records.dropVersion(finding.target.apiUID);
    }
    this.send(podUID, finding.reason);
  }

  #repair(podUID: string): void {
    const { problems, logger } = this.#options;
    const problem = problems.noteRepair(podUID);
    if (problem?.kind !== 'fought-over') return;
    const fields = { ...this.#options.cache.fieldsOf(podUID), ...problemFields(problem, this.#context.clock.now()) };
    logger.warn(fields, 'another writer changes the status of a pod again and again');
  }

  #endWait(podUID: string): void {
    this.#retries.cancel(podUID);
    this.#context.records.endWait(podUID);
  }

  /** False when there is nothing to sync, or something of the pod is under way. */
  #begin(turn: Turn): boolean {
    const { podUID } = turn;
    const { podStatuses, records } = this.#context;
    if (podStatuses.get(podUID) === undefined || records.state(podUID)?.underWay !== undefined) return false;
    const start = this.#guarded(podUID, () => records.begin(podUID));
    if (start === undefined) return false;
    this.#retries.cancel(podUID);
    this.#sync(turn, start)
      .catch((error: unknown) => this.#unforeseen(podUID, error))
      .then((outcome) => this.#settle(turn, outcome))
      .catch((err: unknown) =>
        this.#options.logger.error({ err, ...this.#options.cache.fieldsOf(podUID) }, 'a settled sync could not be recorded'),
      );
    return true;
  }

  async #sync({ podUID, token }: Turn, start: SyncStart): Promise<SyncOutcome> {
    const fetch = start.fetch || this.#context.fetchBeforePatch === 'always';
    const steps = countedSync(this.#context, { ...start, podUID, token, fetch });
    for (;;) {
      const step = await steps.next();
      if (step.done) return step.value;
      this.#carryOut(this.#context.records.acknowledge(podUID, step.value));
    }
  }

  #unforeseen(podUID: string, error: unknown): SyncOutcome {
    this.#options.logger.error({ err: error, ...this.#options.cache.fieldsOf(podUID) }, 'a sync failed in an unforeseen way');
    const version = this.#context.podStatuses.get(podUID)?.version ?? 0;
    return { kind: 'failed', failure: new RequestFailure('patch', 'broken-answer', error), version, resourceVersion: undefined };
  }

  #settle(turn: Turn, outcome: SyncOutcome): void {
    const { podUID } = turn;
    const { gate, records } = this.#context;
    const settled = 'failure' in outcome ? outcome.failure.settled : undefined;
    if (settled !== undefined) this.#slots.keepOverdue(podUID, this.#releaseWhen(podUID, settled));
    try {
      this.#carryOut(records.settle(podUID, outcome, gate.pauseLeftMs));
    } finally {
      this.#slots.end(turn);
      this.pump();
    }
  }

  /** A request has outlived its sync: no other write of the pod leaves before it has settled. Never rejects. */
  async #releaseWhen(podUID: string, settled: Promise<void>): Promise<void> {
    await settled;
    this.#carryOut(this.#context.records.release(podUID));
    this.pump();
  }

  #carryOut(effects: readonly SyncEffect[]): void {
    for (const effect of effects) {
      if (this.#running || !isWork(effect))
        this.#guarded('podUID' in effect ? effect.podUID : '', () => this.#carryOutOne(effect));
    }
  }

  #carryOutOne(effect: SyncEffect): void {
    switch (effect.kind) {
      case 'send':
        this.send(effect.podUID);
        break;
      case 'hint':
        this.hint(effect.podUID);
        break;
      case 'look':
        this.lookAtChange(effect.podUID);
        break;
      case 'retry':
        this.#retryLater(effect.podUID, effect.afterMs);
        break;
      case 'pause':
        this.#context.gate.pause(effect.forMs);
        break;
      case 'acknowledged':
        this.#options.reports.acknowledged(effect.podUID, effect.acknowledged);
        this.#options.finisher.finishIfDue(effect.podUID);
        break;
      case 'failed':
        this.#failed(effect.podUID, effect.failure);
        break;
      case 'recovered':
        this.#options.reports.recovered(this.#options.cache.fieldsOf(effect.podUID), effect.ended);
        break;
      case 'ended':
        this.#ended(effect.podUID, effect.how);
        break;
      case 'changed':
        this.#options.waiters.look(effect.podUID);
        break;
    }
  }

  #failed(podUID: string, failure: SyncFailure): void {
    const { reports, problems } = this.#options;
    reports.failed(podUID, this.#context.podStatuses.get(podUID), failure, problems.ofRequests(podUID));
  }

  #ended(podUID: string, how: 'recreated' | 'deleted'): void {
    const { logger, problems } = this.#options;
    const fields = this.#options.cache.fieldsOf(podUID);
    const isNew = !problems.wasRecreated(podUID);
    // an agent that goes on setting statuses of such a pod is told once
    if (!isNew) logger.debug(fields, 'the status of a pod whose name another one has is dropped again');
    else if (how === 'deleted') logger.info(fields, 'the pod is no more; its status is dropped');
    this.forget(podUID, how);
    if (!isNew || how === 'deleted') return;
    const problem = problemFields(problems.of(podUID) ?? {}, this.#context.clock.now());
    const told = { ...fields, ...problem };
    logger.warn(told, 'the pod was deleted and another one has its name; its status was not written and is dropped');
  }

  #retryLater(podUID: string, afterMs: number): void {
    this.#retries.set(podUID, afterMs, () => {
      this.#carryOut(this.#context.records.retryDue(podUID));
      this.pump();
    });
  }

  /** An injected part that throws costs this pod this look, and costs no other pod anything. */
  #guarded<T>(podUID: string, look: () => T): T | undefined {
    return callGuarded(look, (err) =>
      this.#options.logger.error(
        { err, ...this.#options.cache.fieldsOf(podUID) },
        'a pod could not be looked at; the next batch looks again',
      ),
    );
  }
}
