import { limitedCall } from '../client/limited-call.ts';
import { invalidArgument } from '../errors.ts';
import type { EventRecorder } from '../pod/event-recorder.ts';
import type { Clock } from '../seams/clock.ts';
import type { Logger } from '../seams/logger.ts';
import { canonicalPodStatus } from '../status/canonical/canonical-status.ts';
import { requireStatus } from '../status/rules/validate-status.ts';
import { isJsonObject } from '../wire/json.ts';
import type { Pod, PodStatus, WirePodStatus } from '../wire/types.ts';
import type { PodNotices } from './pod-notices.ts';
import type { PodProvider } from './pod-provider.ts';
import type { ProvidedPod, ProviderChange } from './provided-pod.ts';

/** After so many answers of one pod that never came, it is not asked about until one of them has settled. */
const mostUnsettled = 4;
/** The wait after the first failure of `createPod` and `updatePod`, doubled by each further one, and the longest. */
const retryMs = { base: 10_000, cap: 300_000 };

export interface ProviderCallsOptions {
  readonly provider: PodProvider;
  readonly notices: PodNotices;
  readonly callTimeoutMs: number;
  readonly eventRecorder: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A call of `deletePod`. */
export interface Deletion {
  readonly settled: Promise<void>;
  readonly outcome: () => 'pending' | 'done' | 'failed';
  readonly error: () => unknown;
  /** Ends the call, unless it has settled. */
  readonly abort: () => void;
}

/** The calls of the provider, each with a signal. Whatever a call does, it concerns the record of its pod alone. */
export class ProviderCalls {
  readonly #options: ProviderCallsOptions;
  /** Aborts when the node stops. */
  readonly #stopping = new AbortController();

  constructor(options: ProviderCallsOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#stopping.abort();
  }

  /**
   * The status that the provider gives of the pod; undefined where it has no such pod. Rejects when it does, when it gives no
   * answer in time, and for an answer that is no status; with the signal's reason once `signal` has aborted.
   */
  async ask(record: ProvidedPod, signal: AbortSignal): Promise<WirePodStatus | undefined> {
    const { provider, notices, clock, callTimeoutMs } = this.#options;
    if (record.unsettled >= mostUnsettled)
      throw new Error('getPodStatus() has not answered several times; it is not called again yet');
    const over = new AbortController();
    const limits = AbortSignal.any([signal, this.#stopping.signal]);
    const call = { signal: AbortSignal.any([limits, over.signal]) };
    const { answer, settled } = limitedCall('getPodStatus()', () => provider.getPodStatus(record.pod, call), {
      clock,
      timeoutMs: callTimeoutMs,
      signal: limits,
    });
    let hasAnswered = false;
    record.unsettled += 1;
    void settled.then(() => {
      record.unsettled -= 1;
    });
    try {
      const given: unknown = await answer;
      hasAnswered = true;
      const status = readStatus(given);
      record.noteAnswer(status);
      // a later outage has an event of its own
      if (record.lastEvent?.startsWith('ProviderStatusFailed')) record.lastEvent = undefined;
      notices.release(record.uid);
      return status;
    } catch (error) {
      signal.throwIfAborted();
      notices.hold(record.uid);
      this.event(record, 'ProviderStatusFailed', `The provider does not say how the pod is: ${messageOf(error)}`);
      throw error;
    } finally {
      if (!hasAnswered) over.abort();
    }
  }

  /** Begins `createPod` or `updatePod` with the pod as it is now. Its end is in the record, and is told of. */
  change(record: ProvidedPod, method: ProviderChange['method']): ProviderChange {
    const { notices } = this.#options;
    const { pod } = record;
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, this.#stopping.signal]);
    const settled = this.#invoke(method, pod, { signal }).then(
      () => {
        record.given = pod;
        record.isHeld = true;
        record.isDeleted = false;
        record.failure = undefined;
      },
      (error: unknown) => this.#noteFailure(record, method, pod, error, signal.aborted),
    );
    const change: ProviderChange = {
      method,
      controller,
      settled: settled.then(() => {
        record.change = undefined;
        if (!change.isAwaited) notices.tell(record.uid);
      }),
      isAwaited: false,
    };
    record.change = change;
    return change;
  }

  /** Begins `deletePod`. `signal` ends it. */
  delete(record: ProvidedPod, gracePeriodSeconds: number, signal: AbortSignal): Deletion {
    const over = new AbortController();
    const call = { gracePeriodSeconds, signal: AbortSignal.any([signal, over.signal, this.#stopping.signal]) };
    let outcome: 'pending' | 'done' | 'failed' = 'pending';
    let failure: unknown;
    const settled = this.#invoke('deletePod', record.pod, call).then(
      () => {
        outcome = 'done';
      },
      (error: unknown) => {
        outcome = 'failed';
        failure = error;
        if (!call.signal.aborted)
          this.event(record, 'ProviderDeleteFailed', `The provider did not delete the pod: ${messageOf(error)}`);
      },
    );
    return { settled, outcome: () => outcome, error: () => failure, abort: () => outcome === 'pending' && over.abort() };
  }

  /** Writes a warning, unless it was the last one of the pod. */
  event(record: ProvidedPod, reason: string, message: string): void {
    const text = `${reason}: ${message}`;
    if (record.lastEvent === text) return;
    record.lastEvent = text;
    this.#options.eventRecorder.event(record.pod, 'Warning', reason, message);
  }

  async #invoke<Call>(method: 'createPod' | 'updatePod' | 'deletePod', pod: Pod, call: Call): Promise<void> {
    const { provider } = this.#options;
    await (provider[method] as (pod: Pod, call: Call) => unknown).call(provider, pod, call);
  }

  #noteFailure(record: ProvidedPod, method: ProviderChange['method'], pod: Pod, error: unknown, wasAborted: boolean): void {
    const { clock, logger } = this.#options;
    // it may have begun something all the same
    if (method === 'createPod') record.isDeleted = false;
    if (wasAborted) return;
    const message = messageOf(error);
    const attempts = (record.failure?.attempts ?? 0) + 1;
    const delayMs = Math.min(retryMs.cap, retryMs.base * 2 ** Math.min(attempts - 1, 30));
    record.failure = { method, message, attempts, retryAt: clock.now() + delayMs, pod };
    logger.warn({ err: error, podUID: record.uid, method, attempts, delayMs }, 'the provider failed; it is called again later');
    const reason = method === 'createPod' ? 'ProviderCreateFailed' : 'ProviderUpdateFailed';
    this.event(record, reason, `The provider did not ${method === 'createPod' ? 'create' : 'update'} the pod: ${message}`);
  }
}

/** A status as it goes over the wire. Throws ERR_INVALID_ARGUMENT for what is no status. */
function readStatus(answer: unknown): WirePodStatus | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (!isJsonObject(answer)) throw invalidArgument('the answer of getPodStatus()', 'a pod status, or undefined', answer);
  const status = canonicalPodStatus(answer as PodStatus, Number.POSITIVE_INFINITY);
  requireStatus(status);
  if (status.phase === 'Unknown') throw invalidArgument('the phase that getPodStatus() gives', 'known', status.phase);
  return status;
}

/** What an error says, in a length that fits into a status. Never throws. */
export function messageOf(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return typeof text === 'string' && text !== '' ? text.slice(0, 500) : 'unknown error';
  } catch {
    return 'unknown error';
  }
}
