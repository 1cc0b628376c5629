import type { WirePodStatus } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { endedFailures } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import { problemFields } from '../../base/problem.ts';
import type { BackoffError } from '../workers/backoff-error.ts';
import type { PodNotices } from './pod-notices.ts';
import type { ProvidedPod } from './provided-pod.ts';
import type { ProvidedPods } from './provided-pods.ts';
import { isOver } from './provided-status.ts';
import { type Deletion, type ProviderCalls, shortErrorText } from './provider-calls.ts';
import { deletionProblem } from './provider-problems.ts';
import type { ProviderRetries } from './provider-retries.ts';

/** How long after its grace period a pod may go on before `deletePod` is called again. */
const patienceMs = 30_000;

const unadopted = 'adopt() has not succeeded yet, and getPodStatus() knows no such pod';

export interface PodEndingOptions {
  readonly calls: ProviderCalls;
  readonly pods: Pick<ProvidedPods, 'isUnadopted' | 'noteDeleted'>;
  readonly notices: PodNotices;
  readonly retries: ProviderRetries;
  readonly recoveries: RecoveryLines;
  /** How often a provider that tells nothing is asked. */
  readonly pollMs: number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

export interface EndRequest {
  readonly gracePeriodSeconds: number;
  /** True: the provider is to free what it has of the pod, also when nothing of it runs. */
  readonly releases: boolean;
  /** Called with what the provider says of the pod while it ends. */
  readonly told: (answer: WirePodStatus) => void;
}

/** Ends pods: asks the provider to delete one, and waits until it says that nothing of the pod runs. */
export class PodEnding {
  readonly #options: PodEndingOptions;

  constructor(options: PodEndingOptions) {
    this.#options = options;
  }

  /**
   * Aborts the call that creates or updates the pod, and calls `deletePod`. `deletePod` waits for the end of the aborted call, at
   * most for the grace period. If that call ends later still, `deletePod` is called once more at once.
   *
   * - Resolves once the provider says that nothing of the pod runs: to what it said last, by an answer or by its `deletePod`.
   * - Rejects with a BackoffError when `deletePod` has failed, and while its retry is not due. A retry that is set within the
   *   grace period is due before that period ends. Of a pod that the provider neither knows nor has adopted, it counts as failed without a call.
   * - Rejects with an Error when the provider has not said so 30 s after the grace period, which counts from the call of `deletePod`.
   * - Rejects with the signal's reason once `signal` has aborted.
   */
  async end(record: ProvidedPod, request: EndRequest, signal: AbortSignal): Promise<WirePodStatus | undefined> {
    const { calls, pods, notices, clock, pollMs } = this.#options;
    const graceMs = request.gracePeriodSeconds * 1000;
    const deleteAt = clock.elapsed() + graceMs;
    const { change } = record;
    const askedAt = clock.now();
    if (change !== undefined) {
      if (change.isBegun) record.isUncertain = true;
      change.end = { askedAt, until: askedAt + graceMs, isDeleteCalled: false };
      change.abort();
    }
    let deletion: Deletion | undefined;
    let isBesideChange = false;
    try {
      for (;;) {
        const asked = await this.#tryToAsk(record, signal);
        if (asked.answer !== undefined) request.told(asked.answer);
        if (isBesideChange && record.change === undefined) {
          // what the call has begun meanwhile may be unknown to the earlier deletePod
          deletion?.abort();
          deletion = undefined;
        }
        if (deletion?.outcome() === 'done') this.#noteDeleted(record);
        // the time for a deletion counts from its call: not while it waits for its turn
        const deadline = deletion === undefined ? deleteAt + patienceMs : deadlineOf(deletion, graceMs);
        const step = nextStep({
          hasEnded: 'answer' in asked && isOver(record.pod, asked.answer),
          isToFree: request.releases && asked.answer !== undefined,
          isUncertain: record.isUncertain,
          isDeleted: record.isDeleted,
          isChanging: record.change !== undefined,
          deletion: deletion?.outcome(),
          isGraceOver: clock.elapsed() >= deleteAt,
          isLate: clock.elapsed() >= deadline,
        });
        if (step === 'resolve') return this.#over(record, asked.answer, deletion);
        if (step === 'fail') throw this.#failed(record, request, deletion?.error());
        if (step === 'giveUp') throw this.#late(record, asked, request);
        if (step === 'delete') {
          this.#requireDue(record, request);
          if (asked.answer === undefined && pods.isUnadopted(record.uid))
            throw this.#failed(record, request, new Error(unadopted));
          isBesideChange = record.change !== undefined;
          if (change !== undefined) change.end = { askedAt, until: clock.now() + graceMs + patienceMs, isDeleteCalled: true };
          deletion = calls.delete(record, request.gracePeriodSeconds, signal);
        }
        const nextAt = deletion === undefined ? deleteAt : deadlineOf(deletion, graceMs);
        // the end of a call under way wakes it, too
        await notices.wait(record.uid, Math.min(pollMs, nextAt - clock.elapsed()), signal);
        signal.throwIfAborted();
      }
    } finally {
      deletion?.abort();
    }
  }

  async #tryToAsk(record: ProvidedPod, signal: AbortSignal): Promise<Asked> {
    try {
      return { answer: await this.#options.calls.ask(record, signal, 'ends') };
    } catch (error) {
      signal.throwIfAborted();
      return { error };
    }
  }

  /** Throws while the last failure is not to be repeated yet. A pod that is to end sooner than then does not wait. */
  #requireDue({ deleteFailure }: ProvidedPod, { gracePeriodSeconds }: EndRequest): void {
    if (deleteFailure === undefined || gracePeriodSeconds < deleteFailure.gracePeriodSeconds) return;
    const { clock, retries } = this.#options;
    const { message, dueAt } = deleteFailure;
    if (clock.elapsed() < dueAt) throw retries.backoffError(message, dueAt);
  }

  #failed(record: ProvidedPod, { gracePeriodSeconds }: EndRequest, cause: unknown): BackoffError {
    const { clock, retries, logger } = this.#options;
    const text = shortErrorText(cause);
    const message = `The provider did not delete the pod: ${text}`;
    const before = record.deleteFailure;
    const attempt = (before?.attempt ?? 0) + 1;
    const now = clock.elapsed();
    const graceEndsAt = Math.min(before?.graceEndsAt ?? Number.POSITIVE_INFINITY, now + gracePeriodSeconds * 1000);
    // while the pod has time to end by itself it is asked to in time
    const { retryAt, dueAt } = retries.after(attempt, now < graceEndsAt ? graceEndsAt - now : undefined);
    const since = before?.since ?? clock.now();
    const failure = { message, cause: text, attempt, since, retryAt, dueAt, gracePeriodSeconds, graceEndsAt };
    record.deleteFailure = failure;
    const problem = problemFields(deletionProblem(failure), clock.now());
    const fields = { err: cause, ...podFields(record.pod.metadata), method: 'deletePod', ...problem };
    logger.warn(fields, 'the provider did not delete a pod; it is asked again later');
    return retries.backoffError(message, dueAt);
  }

  #over(record: ProvidedPod, answer: WirePodStatus | undefined, deletion: Deletion | undefined): WirePodStatus | undefined {
    record.lateEnd = undefined;
    if (record.change === undefined) record.isUncertain = false;
    if (deletion?.outcome() === 'done' || answer === undefined) record.isDeleted = true;
    if (answer === undefined) {
      this.#noteDeleted(record);
      record.noteGone();
    }
    return answer ?? deletion?.last();
  }

  /** The provider has deleted the pod, or has nothing of it any more. */
  #noteDeleted(record: ProvidedPod): void {
    const { pods, recoveries, logger, clock } = this.#options;
    pods.noteDeleted(record.uid);
    const { deleteFailure: failed, pod } = record;
    record.deleteFailure = undefined;
    if (failed === undefined || !recoveries.take()) return;
    const ended = endedFailures(failed, clock.now());
    const fields = { ...podFields(pod.metadata), method: 'deletePod', ...ended };
    logger.info(fields, 'the provider has deleted a pod that it failed to delete before');
  }

  #late(record: ProvidedPod, asked: Asked, { gracePeriodSeconds }: EndRequest): Error {
    const why = 'error' in asked ? 'the provider does not say how it is' : 'the provider says that it still runs';
    const { namespace, name } = record.pod.metadata ?? {};
    const message = `Pod ${namespace}/${name} has not ended within its grace period of ${gracePeriodSeconds} s and ${patienceMs / 1000} s more: ${why}`;
    const { attempt = 0, since = this.#options.clock.now() - patienceMs } = record.lateEnd ?? {};
    record.lateEnd = {
      message: `the pod has not ended although its grace period of ${gracePeriodSeconds} s is over: ${why}`,
      attempt: attempt + 1,
      since,
    };
    return 'error' in asked ? new Error(message, { cause: asked.error }) : new Error(message);
  }
}

/** When the provider has taken too long to delete the pod, by `clock.elapsed()`. */
function deadlineOf(deletion: Deletion, graceMs: number): number {
  return (deletion.begunAt() ?? Number.POSITIVE_INFINITY) + graceMs + patienceMs;
}

type Asked =
  | { readonly answer: WirePodStatus | undefined; readonly error?: never }
  | { readonly error: unknown; readonly answer?: never };

/** What is known of a pod that ends, after the provider was asked about it. */
interface EndFacts {
  /** True: the provider says that nothing of the pod runs. */
  readonly hasEnded: boolean;
  /** True: the provider is to free the pod, and still has something of it. */
  readonly isToFree: boolean;
  /** True: an aborted call may have begun something that no answer shows. */
  readonly isUncertain: boolean;
  /** True: a `deletePod` has succeeded before, or the provider has nothing of the pod. */
  readonly isDeleted: boolean;
  /** True: `createPod` or `updatePod` is under way. */
  readonly isChanging: boolean;
  /** How the call of `deletePod` is; undefined while there is none. */
  readonly deletion: 'pending' | 'done' | 'failed' | undefined;
  /** True: the grace period has passed since the end was asked for. */
  readonly isGraceOver: boolean;
  /** True: the end takes longer than the provider may take. */
  readonly isLate: boolean;
}

/** `delete`: calls `deletePod`. `fail`: `deletePod` has failed. `giveUp`: the pod still runs, and its time is over. */
type EndStep = 'delete' | 'wait' | 'resolve' | 'fail' | 'giveUp';

function nextStep(facts: EndFacts): EndStep {
  const { hasEnded, isToFree, isUncertain, isDeleted, isChanging, deletion, isGraceOver, isLate } = facts;
  const isNeeded = !hasEnded || isToFree;
  const mayBegin = !isChanging || isGraceOver;
  if (deletion === undefined && (isNeeded || isUncertain) && mayBegin && !isDeleted) return 'delete';
  if (deletion === 'failed' && isNeeded) return 'fail';
  const isUnderWay = deletion === 'pending' || isChanging;
  // a call that never settles must not keep a pod for ever of which the provider says that it is over
  if (hasEnded && (!isUnderWay || isLate)) return 'resolve';
  return isLate ? 'giveUp' : 'wait';
}
