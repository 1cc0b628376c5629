import type { WirePodStatus } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { BackoffError } from '../workers/backoff-error.ts';
import type { PodNotices } from './pod-notices.ts';
import type { ProvidedPod } from './provided-pod.ts';
import { isOver } from './provided-status.ts';
import { type Deletion, messageOf, type ProviderCalls } from './provider-calls.ts';
import type { ProviderRetries } from './provider-retries.ts';

/** How long after its grace period a pod may go on before `deletePod` is called again. */
const patienceMs = 30_000;

export interface PodEndingOptions {
  readonly calls: ProviderCalls;
  readonly notices: PodNotices;
  readonly retries: ProviderRetries;
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
   * Aborts the call that creates or updates the pod, waits for its end, at most for the grace period, and calls `deletePod`; once
   * more, at once, where the call ends later than that. Resolves, to what the provider said last, by an answer or by its
   * `deletePod`, once it says that nothing of
   * the pod runs. Rejects when it does not within the grace period and some patience; with a BackoffError while its `deletePod`,
   * which has failed, is not to be repeated yet, which is within the grace period; with the signal's reason once `signal` has aborted.
   */
  async end(record: ProvidedPod, request: EndRequest, signal: AbortSignal): Promise<WirePodStatus | undefined> {
    const { calls, notices, clock, pollMs } = this.#options;
    const graceMs = request.gracePeriodSeconds * 1000;
    const deleteAt = clock.elapsed() + graceMs;
    let deadline = deleteAt + patienceMs;
    if (record.change !== undefined) {
      record.isUncertain = true;
      record.change.abort();
    }
    let deletion: Deletion | undefined;
    let isBesideChange = false;
    try {
      for (;;) {
        const asked = await this.#tryToAsk(record, signal);
        if ('answer' in asked && asked.answer !== undefined) request.told(asked.answer);
        const ends = 'answer' in asked && isOver(record.pod, asked.answer);
        if (isBesideChange && record.change === undefined) {
          // what the call has begun meanwhile may be unknown to the earlier deletePod
          deletion?.abort();
          deletion = undefined;
        }
        const mustDelete = !ends || record.isUncertain || (request.releases && asked.answer !== undefined);
        const mayDelete = record.change === undefined || clock.elapsed() >= deleteAt;
        if (deletion === undefined && mustDelete && mayDelete && !record.isDeleted) {
          this.#requireDue(record, request);
          isBesideChange = record.change !== undefined;
          deadline = clock.elapsed() + graceMs + patienceMs;
          deletion = calls.delete(record, request.gracePeriodSeconds, signal);
        }
        if (deletion?.outcome() === 'done') record.deleteFailure = undefined;
        const mustSucceed = !ends || (request.releases && asked.answer !== undefined);
        if (deletion?.outcome() === 'failed' && mustSucceed) throw this.#failed(record, request, deletion);
        const isUnderWay = deletion?.outcome() === 'pending' || record.change !== undefined;
        const isLate = clock.elapsed() >= deadline;
        // a call that never settles must not keep a pod for ever of which the provider says that it is over
        if (ends && (!isUnderWay || isLate)) return this.#over(record, asked.answer, deletion);
        if (isLate) throw this.#late(record, asked, request);
        const nextAt = deletion === undefined ? deleteAt : deadline;
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
      return { answer: await this.#options.calls.ask(record, signal) };
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

  #failed(record: ProvidedPod, { gracePeriodSeconds }: EndRequest, deletion: Deletion): BackoffError {
    const { clock, retries, logger } = this.#options;
    const cause = deletion.error();
    const message = `The provider did not delete the pod: ${messageOf(cause)}`;
    const before = record.deleteFailure;
    const attempts = (before?.attempts ?? 0) + 1;
    const now = clock.elapsed();
    const graceEndsAt = Math.min(before?.graceEndsAt ?? Number.POSITIVE_INFINITY, now + gracePeriodSeconds * 1000);
    // while the pod has time to end by itself it is asked to in time
    const { delayMs, retryAt, dueAt } = retries.after(attempts, now < graceEndsAt ? graceEndsAt - now : undefined);
    record.deleteFailure = { message, attempts, retryAt, dueAt, gracePeriodSeconds, graceEndsAt };
    const fields = { err: cause, podUID: record.uid, attempts, delayMs };
    if (attempts === 1) logger.warn(fields, 'the provider did not delete a pod; it is asked again later');
    else logger.debug(fields, 'the provider did not delete a pod again; it is asked again later');
    return retries.backoffError(message, dueAt, { cause });
  }

  #over(record: ProvidedPod, answer: WirePodStatus | undefined, deletion: Deletion | undefined): WirePodStatus | undefined {
    if (record.change === undefined) record.isUncertain = false;
    if (deletion?.outcome() === 'done' || answer === undefined) record.isDeleted = true;
    if (answer === undefined) record.noteGone();
    return answer ?? deletion?.last();
  }

  #late({ uid }: ProvidedPod, asked: Asked, { gracePeriodSeconds }: EndRequest): Error {
    const why = 'error' in asked ? 'the provider does not say how it is' : 'the provider says that it still runs';
    const message = `Pod ${uid} has not ended within its grace period of ${gracePeriodSeconds} s and ${patienceMs / 1000} s more: ${why}`;
    return 'error' in asked ? new Error(message, { cause: asked.error }) : new Error(message);
  }
}

type Asked =
  | { readonly answer: WirePodStatus | undefined; readonly error?: never }
  | { readonly error: unknown; readonly answer?: never };
