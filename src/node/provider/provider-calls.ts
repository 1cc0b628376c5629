import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { callWithin, LinkedAbort, onAbort } from '../../base/concurrency/aborts.ts';
import { LateSet } from '../../base/concurrency/late-collections.ts';
import { errorText, StatusManagerError } from '../../base/errors.ts';
import { endedFailures } from '../../base/failure-run.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import { problemFields } from '../../base/problem.ts';
import { textBeginning } from '../../base/text-beginning.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { problemOfStatus } from '../../status/rules/status-problem.ts';
import type { CallTurns, TurnLane } from './call-turns.ts';
import { LongCalls, longCallMs, type OpenCall } from './long-calls.ts';
import type { PodNotices } from './pod-notices.ts';
import type { NodePod, PodProvider, ProviderCall } from './pod-provider.ts';
import { type PodRejection, rejectionOf } from './pod-rejected-error.ts';
import type { ProvidedPod, ProviderChange } from './provided-pod.ts';
import { readAnswer, type StatusFacts, statusOfListed } from './provided-status.ts';
import type { ProviderMetrics } from './provider-metrics.ts';
import { callProblem, lateProblem } from './provider-problems.ts';
import type { ProviderRetries } from './provider-retries.ts';

/** While so many answers of one pod have not come, it is asked about no more often than this, in milliseconds. */
const mostUnsettled = 4;
const unsettledIntervalMs = 30_000;

const unadopted = 'getPodStatus() knows no such pod, which an earlier run has begun, and adopt() has not succeeded yet';
const failureReasons = { createPod: 'ProviderCreateFailed', updatePod: 'ProviderUpdateFailed' } as const;

export interface ProviderCallsOptions {
  readonly provider: PodProvider;
  readonly notices: PodNotices;
  readonly factsOf: (record: ProvidedPod) => StatusFacts;
  /** True for a pod that an earlier run has begun, while the provider has not adopted it. */
  readonly isUnadopted: (podUID: string) => boolean;
  readonly callTimeoutMs: number;
  readonly changeTimeoutMs: number;
  readonly eventRecorder: EventRecorder;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: ProviderMetrics;
  readonly retries: ProviderRetries;
  readonly turns: CallTurns;
  readonly recoveries: RecoveryLines;
  /** The longest wait after questions that have failed. */
  readonly mostAskMs: number;
}

/** A call of `deletePod`. Its end wakes what waits for the pod. */
export interface Deletion {
  readonly outcome: () => 'pending' | 'done' | 'failed';
  readonly error: () => unknown;
  /** When it began, by `clock.elapsed()`; undefined while it waits for its turn. */
  readonly begunAt: () => number | undefined;
  /** The status that the call has resolved to, if any. */
  readonly last: () => WirePodStatus | undefined;
  /** Ends the call, unless it has settled. */
  readonly abort: () => void;
}

/** The calls of the provider, each with a signal. Whatever a call does, it concerns the record of its pod alone. */
export class ProviderCalls {
  readonly #options: ProviderCallsOptions;
  /** The signals of the calls under way. A listener of each on one signal of the node's would be compared with all others. */
  readonly #open = new LateSet<LinkedAbort>();
  readonly #longCalls: LongCalls;
  #isStopped = false;

  constructor(options: ProviderCallsOptions) {
    this.#options = options;
    this.#longCalls = new LongCalls(options.clock, options.logger);
  }

  stop(): void {
    this.#isStopped = true;
    this.#longCalls.stop();
    for (const linked of this.#open) linked.abort();
    this.#options.turns.stop();
  }

  /** Resolves once no call is under way, at the latest after `timeoutMs`, to those that are. */
  settled(timeoutMs: number): Promise<readonly OpenCall[]> {
    return this.#longCalls.settled(timeoutMs);
  }

  /**
   * The status that the provider gives of the pod; undefined where it has no such pod. Rejects when it does, when it gives no
   * answer in time, and for an answer that is no status, each time with a BackoffError; with the signal's reason once `signal`
   * has aborted. `lane`: `ends` of a pod that ends.
   */
  async ask(record: ProvidedPod, signal: AbortSignal, lane: TurnLane = 'questions'): Promise<WirePodStatus | undefined> {
    const { provider, notices, clock, callTimeoutMs, metrics, retries, turns, mostAskMs } = this.#options;
    const intervalMs = Math.max(callTimeoutMs, unsettledIntervalMs);
    if (record.unsettled >= mostUnsettled && clock.elapsed() - record.askedAtElapsed < intervalMs) {
      const message = `getPodStatus() has left ${record.unsettled} calls without an answer; it is called every ${intervalMs} ms`;
      const askAt = record.askedAtElapsed + intervalMs;
      const { attempt = record.unsettled, since = record.askedAt } = record.answerFailure ?? {};
      record.answerFailure = { message, attempt, since, retryAt: Math.round(record.askedAt + intervalMs) };
      throw retries.backoffError(message, askAt);
    }
    const call = async (own: AbortSignal): Promise<unknown> => {
      record.unsettled += 1;
      // a shorter limit tells of it as of a failure
      const settled = this.#longCalls.begin(record.pod, 'getPodStatus', callTimeoutMs > longCallMs);
      try {
        return await provider.getPodStatus(nodePod(record.pod), { signal: own });
      } finally {
        record.unsettled -= 1;
        settled();
      }
    };
    const late = (): StatusManagerError =>
      new StatusManagerError('ERR_CALL_TIMEOUT', `getPodStatus() gave no answer within ${callTimeoutMs} ms`);
    const linked = this.#link(signal);
    const limits = { clock, timeoutMs: callTimeoutMs, signal: linked.signal, late };
    const ask = async (): Promise<unknown> => {
      record.askedAt = clock.now();
      record.askedAtElapsed = clock.elapsed();
      record.questions += 1;
      return metrics
        .call('getPodStatus', linked.signal, () => callWithin(call, limits))
        .finally(() => {
          record.questions -= 1;
        });
    };
    try {
      const given = await turns.run({ record, method: 'getPodStatus', lane, signal: linked.signal }, ask);
      const status = this.#read(record, given);
      if (status === undefined && this.#options.isUnadopted(record.uid)) throw new Error(unadopted);
      record.noteAnswer(status);
      // a later outage has an event of its own
      if (record.lastEvent?.startsWith('ProviderStatusFailed')) record.lastEvent = undefined;
      notices.release(record.uid);
      return status;
    } catch (error) {
      signal.throwIfAborted();
      if (this.#isStopped) throw error;
      notices.hold(record.uid);
      this.event(record, 'ProviderStatusFailed', `The provider does not say how the pod is: ${shortErrorText(error)}`);
      const { attempt = 0, since = clock.now() } = record.answerFailure ?? {};
      const message = shortErrorText(error);
      const { dueAt, retryAt } = retries.after(attempt + 1, mostAskMs);
      record.answerFailure = { message, attempt: attempt + 1, since, retryAt };
      throw retries.failedCall('getPodStatus', message, dueAt, error);
    } finally {
      this.#release(linked);
    }
  }

  /**
   * Begins `createPod` or `updatePod` with the pod as it is now, once it is its turn; `handed` is what the provider gets of it. The end is
   * in the record, and is told of.
   */
  change(record: ProvidedPod, method: ProviderChange['method'], handed: NodePod): ProviderChange {
    const { notices, clock, logger, turns } = this.#options;
    const { pod } = record;
    const linked = this.#link();
    const { signal } = linked;
    const { promise: settled, resolve } = Promise.withResolvers<void>();
    const abort = (reason?: unknown): void => linked.abort(reason);
    const since = clock.now();
    const change: ProviderChange = { method, abort, isBegun: false, since, late: undefined, settled, isAwaited: false };
    record.change = change;
    let ends: readonly (() => void)[] = [];
    const call = (): Promise<unknown> => {
      change.isBegun = true;
      change.since = clock.now();
      logger.debug({ ...podFields(pod.metadata), method }, 'the provider is called');
      ends = [this.#limit(record, change, signal), this.#longCalls.begin(pod, method)];
      return this.#invoke(method, handed, { signal });
    };
    const done = (): void => {
      record.given = pod;
      record.isHeld = true;
      record.isDeleted = false;
      this.#noteSuccess(record, change, pod);
    };
    const failed = (error: unknown): void => this.#noteFailure(record, change, pod, error, signal.aborted);
    const end = (): void => {
      for (const each of ends) each();
      this.#release(linked);
      record.change = undefined;
      if (!change.isAwaited) notices.tell(record.uid);
      resolve();
    };
    void turns.run({ record, method, lane: 'changes', signal }, call).then(done, failed).then(end);
    return change;
  }

  /** Aborts a change that takes too long, and tells of it. It may settle later all the same. Returns what ends this watch. */
  #limit(record: ProvidedPod, change: ProviderChange, signal: AbortSignal): () => void {
    const { clock, changeTimeoutMs, notices, logger } = this.#options;
    const { method } = change;
    const giveUp = (): void => {
      const late = `${method}() has not settled within ${changeTimeoutMs / 1000} s`;
      change.late = late;
      change.lateAt = clock.now();
      change.abort(new DOMException(late, 'TimeoutError'));
      const problem = problemFields(lateProblem(record, change), clock.now());
      const fields = { ...podFields(record.pod.metadata), method, reason: late, ...problem };
      logger.warn(fields, 'a call of the provider takes too long; its signal is aborted');
      this.event(record, failureReasons[method], failureText(method, late));
      notices.tell(record.uid);
    };
    const cancelTimer = callGuarded(
      () => clock.setTimer(giveUp, changeTimeoutMs),
      (err) =>
        logger.error(
          { err, ...podFields(record.pod.metadata), method },
          'the clock set no timer; a call of the provider has no limit',
        ),
    );
    if (cancelTimer === undefined) return () => {};
    const leave = onAbort(signal, cancelTimer);
    return () => {
      leave();
      cancelTimer();
    };
  }

  /** Begins `deletePod`, once it is its turn. `signal` ends it. */
  delete(record: ProvidedPod, gracePeriodSeconds: number, signal: AbortSignal): Deletion {
    const { notices, clock, logger, turns } = this.#options;
    const linked = this.#link(signal);
    const deletion: { since: number | undefined } = { since: undefined };
    record.deletion = deletion;
    const given = { gracePeriodSeconds, signal: linked.signal };
    let [outcome, begunAt, endLong]: ['pending' | 'done' | 'failed', number | undefined, () => void] = [
      'pending',
      undefined,
      () => {},
    ];
    let failure: unknown;
    let last: WirePodStatus | undefined;
    const call = (): Promise<unknown> => {
      deletion.since = clock.now();
      begunAt = clock.elapsed();
      endLong = this.#longCalls.begin(record.pod, 'deletePod');
      logger.debug({ ...podFields(record.pod.metadata), method: 'deletePod', gracePeriodSeconds }, 'the provider is called');
      return this.#invoke('deletePod', record.pod, given);
    };
    const done = (result: unknown): void => {
      last = this.#readLast(record, result);
      outcome = 'done';
    };
    const failed = (error: unknown): void => {
      outcome = 'failed';
      failure = error;
      if (given.signal.aborted) return;
      this.event(record, 'ProviderDeleteFailed', `The provider did not delete the pod: ${shortErrorText(error)}`);
    };
    const end = (): void => {
      endLong();
      if (record.deletion === deletion) record.deletion = undefined;
      this.#release(linked);
      notices.wake(record.uid);
    };
    void turns.run({ record, method: 'deletePod', lane: 'ends', signal: linked.signal }, call).then(done, failed).then(end);
    return {
      outcome: () => outcome,
      error: () => failure,
      begunAt: () => begunAt,
      last: () => last,
      abort: () => {
        if (outcome === 'pending') linked.abort();
        this.#release(linked);
      },
    };
  }

  /** A signal that also aborts with the given one, and when the node stops, until it is released. */
  #link(signal?: AbortSignal): LinkedAbort {
    const linked = new LinkedAbort(signal);
    this.#open.add(linked);
    if (this.#isStopped) linked.abort();
    return linked;
  }

  #release(linked: LinkedAbort): void {
    linked.release();
    this.#open.delete(linked);
  }

  /** Writes a warning, unless it was the last one of the pod. */
  event(record: ProvidedPod, reason: string, message: string): void {
    const text = `${reason}: ${message}`;
    if (record.lastEvent === text) return;
    record.lastEvent = text;
    this.#options.eventRecorder.event(record.pod, 'Warning', reason, message);
  }

  #read(record: ProvidedPod, answer: unknown): WirePodStatus | undefined {
    try {
      return readAnswer(this.#withContainers(record, answer));
    } catch (error) {
      // the message says all of it: the error behind it would only repeat that
      throw new StatusManagerError(
        'ERR_INVALID_ARGUMENT',
        `getPodStatus() gave an answer that is refused: ${shortErrorText(error)}`,
      );
    }
  }

  /** How the containers ended, if the provider says so. Anything else that `deletePod` resolves to says nothing. */
  #readLast(record: ProvidedPod, result: unknown): WirePodStatus | undefined {
    if (!Array.isArray(result) || result.length === 0) return undefined;
    return callGuarded(
      () => readAnswer(this.#withContainers(record, result)),
      (err) =>
        this.#options.logger.warn(
          { err, ...podFields(record.pod.metadata) },
          'deletePod() of the provider resolved to a list that is refused',
        ),
    );
  }

  #withContainers(record: ProvidedPod, answer: unknown): unknown {
    const { factsOf, clock } = this.#options;
    return Array.isArray(answer) && answer.length > 0 ? statusOfListed(factsOf(record), answer, clock) : answer;
  }

  async #invoke<Call extends ProviderCall>(
    method: 'createPod' | 'updatePod' | 'deletePod',
    pod: Pod,
    call: Call,
  ): Promise<unknown> {
    const { provider, metrics } = this.#options;
    return await metrics.call(method, call.signal, async () =>
      (provider[method] as ((pod: NodePod, call: Call) => unknown) | undefined)?.call(provider, nodePod(pod), call),
    );
  }

  #noteSuccess(record: ProvidedPod, { method, late, since }: ProviderChange, pod: Pod): void {
    const { recoveries, logger, clock } = this.#options;
    const failed = record.failure ?? (late === undefined ? undefined : { attempt: 1, since });
    record.failure = undefined;
    if (failed === undefined || !recoveries.take()) return;
    const ended = endedFailures(failed, clock.now());
    logger.info({ ...podFields(pod.metadata), method, ...ended }, 'the provider has done what it failed at before');
  }

  #noteFailure(record: ProvidedPod, change: ProviderChange, pod: Pod, error: unknown, wasAborted: boolean): void {
    const { retries, logger, clock } = this.#options;
    const { method, late, isBegun } = change;
    // it may have begun something all the same
    if (method === 'createPod' && isBegun) record.isDeleted = false;
    if (wasAborted && late === undefined) return;
    const rejection = method === 'createPod' ? rejectionOf(error) : undefined;
    if (rejection !== undefined) {
      this.#noteRejection(record, rejection, error);
      return;
    }
    const message = late ?? shortErrorText(error);
    const attempt = (record.failure?.attempt ?? 0) + 1;
    const { retryAt, dueAt } = retries.after(attempt);
    const since = record.failure?.since ?? clock.now();
    const failure = { method, message, attempt, since, retryAt, dueAt, pod, isLate: late !== undefined };
    record.failure = failure;
    // that a call takes too long was told when its time was over
    if (late === undefined) {
      const problem = problemFields(callProblem(failure), clock.now());
      logger.warn(
        { err: error, ...podFields(pod.metadata), method, ...problem },
        'the provider failed; it is called again later',
      );
    }
    this.event(record, failureReasons[method], failureText(method, message));
  }

  #noteRejection(record: ProvidedPod, rejection: PodRejection, err: unknown): void {
    const { reason, message } = rejection;
    record.failure = undefined;
    record.rejection = rejection;
    // what it has begun all the same is deleted
    record.isUncertain = true;
    const problem = problemFields(problemOfStatus({ phase: 'Failed', reason, message }) ?? {});
    const fields = { err, ...podFields(record.pod.metadata), reason: `${reason}: ${message}`, ...problem };
    this.#options.logger.warn(fields, 'the provider will never run a pod; it is Failed');
    this.event(record, reason, message);
  }
}

/** The pod as a provider gets it: its uid, name and namespace were checked; a pod of which only those are known has no containers. */
export function nodePod(pod: Pod): NodePod {
  return (pod.spec == null ? { ...pod, spec: { containers: [] } } : pod) as NodePod;
}

/** What an event and a status say of a failure. */
export function failureText(method: ProviderChange['method'], message: string): string {
  return `The provider did not ${method === 'createPod' ? 'create' : 'update'} the pod: ${message}`;
}

/** What an error says, in a length that fits into a status. Never throws. */
export function shortErrorText(error: unknown): string {
  return textBeginning(errorText(error), 500) || 'unknown error';
}
