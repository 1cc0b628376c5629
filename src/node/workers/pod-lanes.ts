// Behaviour of podWorkerLoop in pkg/kubelet/pod_workers.go, v1.36.3.

import { type PodFields, podFields } from '../../api/pod/pod-log-fields.ts';
import type { RuntimePodStatus } from '../../api/pod/runtime-pod.ts';
import { LateMap } from '../../base/concurrency/late-collections.ts';
import { errorText, StatusManagerError } from '../../base/errors.ts';
import { endedFailures } from '../../base/failure-run.ts';
import { callGuarded, ignoreFailure, isThenable } from '../../base/guard.ts';
import { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import { type Problem, problemFields } from '../../base/problem.ts';
import { maxMessageLength } from '../../client/transport/api-error.ts';
import { earliestBackoff, failureFields, isOnlyWaiting } from './backoff-error.ts';
import type { PodRecord, PodWorkerState } from './pod-record.ts';
import type { PodRecords, Work } from './pod-records.ts';
import { newerRuntimeStatus, type PodStatusFn, type PodSyncer, type SyncPodResult, type SyncPodType } from './pod-syncer.ts';
import type { CallUnderWay } from './pod-worker-report.ts';
import type { ResolvedWorkersOptions } from './workers-options.ts';

interface Call extends CallUnderWay {
  readonly controller: AbortController;
  /** True until the syncer is called: the runtime's status is being read. */
  isReading: boolean;
}

/**
 * Makes the calls: one at a time for a pod, any number of pods at once. A lane exists only while its pod has work; between
 * calls a pod costs its record alone.
 */
export class PodLanes {
  readonly #options: ResolvedWorkersOptions;
  readonly #records: PodRecords;
  readonly #recoveries: RecoveryLines;
  readonly #calls = new LateMap<PodRecord, Call>();
  #isStopped = false;
  #noteIdle: (() => void) | undefined;

  constructor(options: ResolvedWorkersOptions, records: PodRecords) {
    this.#options = options;
    this.#records = records;
    this.#recoveries = new RecoveryLines(options);
  }

  /**
   * The pod has something to do. Its call begins in the next microtask, or follows the one under way. A call that the syncer does
   * not know of yet is not made where the pod has changed its state.
   */
  wake(record: PodRecord): void {
    if (this.#isStopped) return;
    if (!record.isWorking) {
      record.isWorking = true;
      queueMicrotask(() => void this.#work(record));
      return;
    }
    const call = this.#calls.get(record);
    if (call?.isReading && call.work.state !== record.state) call.controller.abort();
  }

  /** Asks the pod's call under way to end soon. */
  abort(record: PodRecord): void {
    this.#calls.get(record)?.controller.abort();
  }

  /** Calls what waited for a pod's end. */
  complete(podUID: string, completed: readonly (() => void)[]): void {
    if (this.#isStopped) return;
    for (const one of completed) {
      callGuarded(one, (err) =>
        this.#options.logger.warn({ err, ...this.#fieldsOf(podUID) }, 'the listener for the end of a pod failed'),
      );
    }
  }

  /** The same for a pod that was over before, or that ended without having started here. */
  completeOver(podUID: string, completed: readonly (() => void)[]): void {
    if (!this.#options.exactlyAsKubelet) this.complete(podUID, completed);
  }

  /** Asks every call under way to end soon, and makes no more. Resolves once all have settled. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#recoveries.stop();
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const { controller } of this.#calls.values()) controller.abort();
    if (this.#calls.size === 0) resolve();
    else this.#noteIdle = resolve;
    return promise;
  }

  callOf(record: PodRecord): CallUnderWay | undefined {
    return this.#calls.get(record);
  }

  /** How many calls are under way for pods that are in this state. */
  countCalls(state: PodWorkerState): number {
    let count = 0;
    for (const { work } of this.#calls.values()) if (work.state === state) count += 1;
    return count;
  }

  callsUnderWay(): string[] {
    return Array.from(this.#calls.keys(), ({ uid }) => uid);
  }

  /** What names the pod in a log line. */
  #fieldsOf(podUID: string): PodFields {
    return podFields(this.#records.get(podUID) ?? { uid: podUID });
  }

  async #work(record: PodRecord): Promise<void> {
    for (let work = this.#next(record); work !== undefined; work = this.#next(record)) {
      const since = this.#options.clock.now();
      const call: Call = { controller: new AbortController(), work, since, isReading: true };
      this.#calls.set(record, call);
      const outcome = await this.#call(record, call);
      this.#calls.delete(record);
      if (this.#isStopped) {
        if (this.#calls.size === 0) this.#noteIdle?.();
        return;
      }
      this.#finish(record, call, outcome);
    }
    record.isWorking = false;
  }

  /** The call to make now, if there is one. */
  #next(record: PodRecord): Work | undefined {
    if (this.#isStopped) return undefined;
    const next = this.#records.begin(record);
    if (next.step === 'call') return next.work;
    if (next.step === 'wait') this.#enqueue(record, startDelayMs(this.#options));
    else if (next.completed !== undefined) this.completeOver(record.uid, next.completed);
    return undefined;
  }

  async #call(record: PodRecord, call: Call): Promise<Outcome> {
    const { podSyncer, runtimeStatusCache, clock, eventRecorder, logger } = this.#options;
    const { work } = call;
    const { signal } = call.controller;
    const { pod } = work.update;
    let runtimeStatus: Awaited<ReturnType<typeof newerRuntimeStatus>> | undefined;
    if (pod !== undefined) {
      try {
        // a clock that was set back must not make the call wait until it has caught up
        const newerThan = Math.min(newerThanOf(record, clock.now()), clock.now());
        runtimeStatus = await newerRuntimeStatus(runtimeStatusCache, record.uid, newerThan, signal);
      } catch (error) {
        if (!signal.aborted) eventRecorder.event(pod, 'Warning', 'FailedSync', `error determining status: ${errorText(error)}`);
        return { failed: true, error };
      }
      if (signal.aborted) return { failed: true, error: signal.reason };
    }
    call.isReading = false;
    logger.debug(
      { ...podFields(record), state: work.state, updateType: work.update.updateType },
      'a call of the pod syncer begins',
    );
    if (work.state === 'terminating') this.#records.acknowledgeTerminating(record);
    const outcome = await callSyncer(podSyncer, work, record, runtimeStatus, signal, this.#statusFn(record, work));
    record.lastSyncAt = clock.now();
    record.isStatusKnown = !outcome.failed && outcome.isStatusKnown;
    return outcome;
  }

  #finish(record: PodRecord, { work, controller }: Call, outcome: Outcome): void {
    const { clock, logger } = this.#options;
    const { uid } = record;
    this.#measure(work);
    if (outcome.failed) {
      const fields = { ...failureFields(outcome.error), ...podFields(record), state: work.state };
      const retryInMs = failureDelayMs(outcome.error, clock.now(), this.#options);
      if (controller.signal.aborted) logger.debug(fields, 'a call gave way to a newer update of its pod');
      else this.#fail(record, outcome.error, fields, retryInMs);
      this.#enqueue(record, retryInMs);
      return;
    }
    this.#succeed(record, work);
    const { isPhaseTransition, isOver, completed } = this.#records.succeed(record, work, outcome.isTerminal);
    if (isOver) this.completeOver(uid, completed);
    else {
      this.#enqueue(record, isPhaseTransition ? 0 : resyncDelayMs(this.#options));
      this.complete(uid, completed);
    }
  }

  #succeed(record: PodRecord, { state }: Work): void {
    const { clock, logger } = this.#options;
    const { failure, isFailureTold } = record;
    record.failure = undefined;
    record.isFailureTold = false;
    if (failure === undefined || !isFailureTold || !this.#recoveries.take()) return;
    const ended = endedFailures(failure, clock.now());
    logger.info({ ...podFields(record), state, ...ended }, 'a pod is synced again');
  }

  #fail(record: PodRecord, error: unknown, fields: { readonly state: PodWorkerState }, retryInMs: number): void {
    const { podSyncer, clock, logger, metrics } = this.#options;
    const { attempt: before = 0, since = clock.now() } = record.failure ?? {};
    const attempt = before + 1;
    const at = clock.now();
    const message = errorText(error).slice(0, maxMessageLength);
    record.failure = { message, attempt, at, since, retryAt: Math.round(at + retryInMs) };
    metrics.increment('pod_status_manager_worker_retries_total', { state: fields.state });
    const told = {
      ...fields,
      ...problemFields({ ...wordsOf(podSyncer, record.uid), attempt, since, retryAt: at + retryInMs }, at),
    };
    // whoever waits for the end of a backoff has told of the failure before it
    if (isOnlyWaiting(error)) logger.debug(told, 'a pod waits for the end of a backoff and will be synced again');
    else {
      record.isFailureTold = true;
      logger.warn(told, 'a pod was not synced and will be synced again');
    }
  }

  /** The function that changes the status of a pod that ends: what it throws goes no further. */
  #statusFn(record: PodRecord, { state }: Work): PodStatusFn | undefined {
    const { exactlyAsKubelet, logger } = this.#options;
    const { podStatusFn: first } = record;
    if (exactlyAsKubelet && (first === undefined || state === 'terminated')) return undefined;
    return (status) => {
      // an eviction may come while the call is under way
      const podStatusFn = exactlyAsKubelet ? first : record.podStatusFn;
      callGuarded(
        () => podStatusFn?.(status),
        (err) => logger.warn({ err, ...podFields(record) }, 'the function that changes the status of a pod failed'),
      );
    };
  }

  #enqueue(record: PodRecord, delayMs: number): void {
    callGuarded(
      () => this.#options.workQueue.enqueue(record.uid, delayMs),
      (err) =>
        this.#options.logger.error(
          { err, ...podFields(record) },
          'the work queue took no retry; the pod waits for its next update',
        ),
    );
  }

  #measure({ state, update }: Work): void {
    if (update.startTime === undefined) return;
    const seconds = (this.#options.clock.elapsed() - update.startTime) / 1000;
    const operation = state === 'terminated' ? state : update.updateType;
    this.#options.metrics.observe('kubelet_pod_worker_duration_seconds', seconds, { operation_type: operation });
  }
}

/** So old a status may be that the last call has left as it is: the kubelet lists the runtime once a second. */
const knownStatusMs = 1000;

/** What the status for the next call of the pod has to be newer than, in milliseconds since the epoch. */
function newerThanOf({ lastSyncAt, isStatusKnown }: PodRecord, now: number): number {
  return isStatusKnown ? Math.min(lastSyncAt, now - knownStatusMs) : lastSyncAt;
}

/** What the syncer says of a call that has failed; `sync` where it says nothing. */
function wordsOf(syncer: PodSyncer, podUID: string): Pick<Problem, 'kind' | 'help'> {
  const read = (): Pick<Problem, 'kind' | 'help'> | undefined => {
    const words = syncer.problemOf?.(podUID);
    return words && { kind: words.kind, help: words.help };
  };
  return callGuarded(read, ignoreFailure) ?? { kind: 'sync' };
}

/** How a call has ended. */
type Outcome =
  | { readonly failed: false; readonly isTerminal: boolean; readonly isStatusKnown: boolean }
  | { readonly failed: true; readonly error: unknown };

/**
 * Calls the method of the syncer that the work is for. Resolves once the call has settled, to a failure for whatever the syncer
 * throws or rejects with, and for an answer that is no promise. `runtimeStatus` is undefined only for a pod that the agent has
 * no object of.
 */
async function callSyncer(
  syncer: PodSyncer,
  { state, update }: Work,
  record: PodRecord,
  runtimeStatus: RuntimePodStatus | undefined,
  signal: AbortSignal,
  podStatusFn: PodStatusFn | undefined,
): Promise<Outcome> {
  try {
    const { pod, mirrorPod, runningPod, gracePeriodSeconds } = update;
    let answer: unknown;
    if (pod === undefined || runtimeStatus === undefined) {
      const { uid, name, namespace } = record;
      answer = syncer.syncTerminatingRuntimePod(runningPod ?? { uid, name, namespace }, signal);
    } else if (state === 'terminated') {
      answer = syncer.syncTerminatedPod({ pod, runtimeStatus, podStatusFn }, signal);
    } else if (state === 'terminating') {
      answer = syncer.syncTerminatingPod({ pod, runtimeStatus, gracePeriodSeconds, podStatusFn }, signal);
    } else {
      answer = syncer.syncPod({ updateType: update.updateType as SyncPodType, pod, mirrorPod, runtimeStatus }, signal);
    }
    // what gave no promise may still be under way: it is not known to have succeeded
    if (!isThenable(answer)) throw new StatusManagerError('ERR_INVALID_ARGUMENT', 'the pod syncer returned no promise');
    const result = (await answer) as Partial<Record<keyof SyncPodResult, unknown>> | null | undefined;
    const isTrue = (field: keyof SyncPodResult): boolean => state === 'sync' && result?.[field] === true;
    return { failed: false, isTerminal: isTrue('isTerminal'), isStatusKnown: isTrue('isStatusKnown') };
  } catch (error) {
    return { failed: true, error };
  }
}

// Behaviour of completeWork in pkg/kubelet/pod_workers.go, v1.36.3.

/**
 * In the message of an error that soon passes: a call that rejects with it is repeated after 1 s, and up to half a second. The
 * text is the kubelet's, and what counts is that the message contains it.
 */
export const networkNotReadyMessage = 'network is not ready';
const networkRetryMs = 1000;
/** Up to this share of a delay is added to it, by chance, so that pods spread. */
const jitter = 0.5;

export interface RetryOptions {
  readonly resyncIntervalMs: number;
  readonly backOffPeriodMs: number;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** How long after a call that succeeded the pod is synced again, in milliseconds. */
function resyncDelayMs({ resyncIntervalMs, random }: RetryOptions): number {
  return resyncIntervalMs * (1 + random() * jitter);
}

/** How long a pod waits for others of its full name before it is looked at again, in milliseconds. */
function startDelayMs({ backOffPeriodMs, random }: RetryOptions): number {
  return backOffPeriodMs * (1 + random() * jitter);
}

/** How long after a call that failed the call is repeated, in milliseconds. */
function failureDelayMs(error: unknown, now: number, { resyncIntervalMs, backOffPeriodMs, random }: RetryOptions): number {
  const spread = 1 + random() * jitter;
  if (errorText(error).includes(networkNotReadyMessage)) return networkRetryMs * spread;
  const end = earliestBackoff(error);
  if (end === undefined) return backOffPeriodMs * spread;
  const delayMs = Math.max(0, Math.min(end.until - now, resyncIntervalMs));
  return end.isExact ? delayMs : delayMs * spread;
}
