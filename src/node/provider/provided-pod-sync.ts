import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { settlesWithin } from '../../base/concurrency/aborts.ts';
import { KeyedTimers } from '../../base/concurrency/timers.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import { problemOfStatus } from '../../status/rules/status-problem.ts';
import type { SyncPodResult } from '../workers/pod-syncer.ts';
import type { PodNotices } from './pod-notices.ts';
import type { PodRejection } from './pod-rejected-error.ts';
import { isSameVersion, type ProvidedPod, type ProviderChange, type ProviderFailure } from './provided-pod.ts';
import type { ProvidedPods } from './provided-pods.ts';
import { isUnbegun, lostContainers, lostStatus, rejectedStatus, statusOfAnswer, waitingStatus } from './provided-status.ts';
import { failureText, type ProviderCalls } from './provider-calls.ts';
import type { ResolvedSyncerOptions } from './provider-pod-syncer-options.ts';
import type { ProviderRetries } from './provider-retries.ts';
import type { ResolvedPods } from './resolved-pods.ts';
import type { ToldStatuses } from './told-statuses.ts';

/** So long a sync waits for `createPod` and `updatePod`; what takes longer goes on beside it. */
const quickMs = 1000;

export interface ProvidedPodSyncOptions {
  readonly pods: Pick<ProvidedPods, 'namesakeOf'>;
  readonly calls: ProviderCalls;
  readonly notices: PodNotices;
  readonly resolved: ResolvedPods;
  readonly retries: ProviderRetries;
  readonly statuses: ToldStatuses;
  readonly pollMs: ResolvedSyncerOptions['pollMs'];
  readonly missingAfterMs: number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** Keeps pods that are to run: asks for the status of one, creates it where it is not there, and updates it where it has changed. */
export class ProvidedPodSync {
  readonly #options: ProvidedPodSyncOptions;
  /** The next question about a pod of which something is expected soon. */
  readonly #polls: KeyedTimers<string>;
  #isStopped = false;

  constructor(options: ProvidedPodSyncOptions) {
    this.#options = options;
    this.#polls = new KeyedTimers(options.clock);
  }

  async sync(record: ProvidedPod, signal: AbortSignal): Promise<SyncPodResult> {
    const { pods, calls } = this.#options;
    this.cancelPoll(record.uid);
    if (record.rejection !== undefined) return this.#reject(record, record.rejection);
    if (!record.isHeld && record.change === undefined) {
      const namesake = pods.namesakeOf(record);
      if (namesake !== undefined) return this.#holdBack(record, namesake);
      record.namesake = undefined;
    }
    const answer = await calls.ask(record, signal);
    return answer === undefined ? this.#syncMissing(record, signal) : this.#syncThere(record, answer, signal);
  }

  /** The pod is not asked about before its next sync. */
  cancelPoll(podUID: string): void {
    this.#polls.cancel(podUID);
  }

  /** No timer is left. */
  stop(): void {
    this.#isStopped = true;
    this.#polls.cancelAll();
  }

  async #syncThere(record: ProvidedPod, answer: WirePodStatus, signal: AbortSignal): Promise<SyncPodResult> {
    const { statuses } = this.#options;
    const status = statusOfAnswer(statuses.facts(record), answer);
    if (record.failure?.method === 'createPod' && record.change === undefined) {
      if (isUnbegun(status)) return this.#createAgain(record, record.failure, signal);
      record.failure = undefined;
    }
    // what was refused is no longer asked for
    if (record.failure?.method === 'updatePod' && record.change === undefined && !record.needsUpdate) record.failure = undefined;
    this.#logLost(record, answer);
    statuses.tell(record, status);
    if (isTerminalPhase(status.phase)) return { isTerminal: true };
    statuses.shareAnswer(record);
    this.#options.resolved.keep(record);
    if (record.change === undefined && record.needsUpdate) {
      return this.#changeAndAsk(record, 'updatePod', signal);
    }
    this.#pollAgain(record, status);
    return { isTerminal: false };
  }

  /** `createPod` has failed, and the pod waits all the same. It is asked about until the next call is due. */
  async #createAgain(record: ProvidedPod, failure: ProviderFailure, signal: AbortSignal): Promise<SyncPodResult> {
    const { clock, pollMs, statuses } = this.#options;
    const restMs = failure.dueAt - clock.elapsed();
    if (isWaiting(record, 'createPod', clock.elapsed())) {
      const text = failureText('createPod', failure.message);
      statuses.tell(record, waitingStatus(statuses.facts(record), 'ProviderCreateFailed', text));
      this.#pollIn(record, Math.min(restMs, pollMs.settled ?? restMs));
      return { isTerminal: false };
    }
    return this.#changeAndAsk(record, 'createPod', signal);
  }

  async #syncMissing(record: ProvidedPod, signal: AbortSignal): Promise<SyncPodResult> {
    const { clock, missingAfterMs, pollMs, statuses } = this.#options;
    if (record.change !== undefined) return this.#wait(record);
    if (record.isHeld) {
      record.missingSince ??= clock.elapsed();
      // what the provider's list does not have either was lost while the agent was away
      const restMs = record.isUnlisted ? 0 : record.missingSince + missingAfterMs - clock.elapsed();
      if (restMs > 0) {
        // a provider may need a moment until it shows what it has begun; what was told stays
        const facts = statuses.facts(record);
        if (facts.previous === undefined) statuses.tell(record, waitingStatus(facts, 'ContainerCreating'));
        this.#pollIn(record, Math.min(restMs, pollMs.soon));
        return { isTerminal: false };
      }
      const status = this.#lose(record);
      if (isTerminalPhase(status.phase)) return { isTerminal: true };
    }
    return this.#changeAndAsk(record, 'createPod', signal);
  }

  async #changeAndAsk(record: ProvidedPod, method: ProviderChange['method'], signal: AbortSignal): Promise<SyncPodResult> {
    const isBegun = await this.#change(record, method, signal);
    if (record.rejection !== undefined) return this.#reject(record, record.rejection);
    return isBegun ? this.#syncAgain(record, signal) : { isTerminal: false };
  }

  /** The provider will never run the pod: it ends, and what there is of it is deleted. */
  #reject(record: ProvidedPod, rejection: PodRejection): SyncPodResult {
    const { statuses } = this.#options;
    statuses.tell(record, rejectedStatus(statuses.facts(record), rejection));
    return { isTerminal: true };
  }

  /** A change was waited for: what has it led to? */
  async #syncAgain(record: ProvidedPod, signal: AbortSignal): Promise<SyncPodResult> {
    if (record.change !== undefined && !record.isHeld) return this.#wait(record);
    const answer = await this.#options.calls.ask(record, signal);
    if (answer === undefined) return this.#wait(record);
    const { statuses } = this.#options;
    const status = statusOfAnswer(statuses.facts(record), answer);
    this.#logLost(record, answer);
    statuses.tell(record, status);
    statuses.shareAnswer(record);
    this.#pollAgain(record, status);
    return { isTerminal: isTerminalPhase(status.phase) };
  }

  /** The provider may take the one for the other: neither is asked about, nor created, before the earlier one is deleted. */
  #holdBack(record: ProvidedPod, namesake: string): SyncPodResult {
    record.namesake ??= { podUID: namesake, since: this.#options.clock.now() };
    const text = `The provider still has pod ${namesake} of the same name; this one is created once that one is deleted`;
    this.#options.calls.event(record, 'ProviderPodWaits', text);
    return this.#wait(record);
  }

  /** The pod is being created. */
  #wait(record: ProvidedPod): SyncPodResult {
    const { statuses, pollMs } = this.#options;
    const { change } = record;
    const late = change?.late === undefined ? undefined : failureText(change.method, change.late);
    const reason = late === undefined ? 'ContainerCreating' : 'ProviderCreateFailed';
    statuses.tell(record, waitingStatus(statuses.facts(record), reason, late));
    this.#pollIn(record, pollMs.soon);
    return { isTerminal: false };
  }

  /**
   * Resolves when the change has settled, or goes on beside the sync; with false where the pod waits for what it refers to. Rejects
   * when it has failed, and while a retry is not due.
   */
  async #change(record: ProvidedPod, method: ProviderChange['method'], signal: AbortSignal): Promise<boolean> {
    const { calls, resolved, retries, statuses, pollMs, clock } = this.#options;
    if (!isWaiting(record, method, clock.elapsed())) {
      const handed = await resolved.take(record, method, signal);
      if (handed === undefined) {
        this.#pollIn(record, pollMs.soon);
        return false;
      }
      const change = calls.change(record, method, handed.pod);
      void change.settled.then(handed.release);
      change.isAwaited = true;
      await settlesWithin(change.settled, { clock, timeoutMs: quickMs, signal });
      change.isAwaited = false;
      signal.throwIfAborted();
    }
    const { failure } = record;
    if (failure?.method !== method || record.change !== undefined) return true;
    const text = failureText(method, failure.message);
    if (method === 'createPod') statuses.tell(record, waitingStatus(statuses.facts(record), 'ProviderCreateFailed', text));
    // what the provider has is asked about meanwhile, whenever the change is due again
    if (record.isHeld) this.#pollIn(record, pollMs.settled);
    throw retries.backoffError(text, failure.dueAt);
  }

  #lose(record: ProvidedPod): WirePodStatus {
    const { calls, statuses, logger } = this.#options;
    record.noteGone();
    const status = lostStatus(statuses.facts(record));
    const createdAgain = status.phase !== 'Failed';
    const problem = problemFields(problemOfStatus(status) ?? {});
    logger.warn({ ...podFields(record.pod.metadata), createdAgain, ...problem }, 'the provider no longer has a pod that ran');
    const next = createdAgain ? 'it is created again' : `${whyNotAgain(record.pod)}: it is not started again`;
    calls.event(record, 'ProviderPodLost', `The provider no longer has the pod, which was not deleted; ${next}`);
    statuses.tell(record, status);
    return status;
  }

  /** Before the status is told: the next one is compared with it, and each loss is logged once. */
  #logLost(record: ProvidedPod, answer: WirePodStatus): void {
    const { statuses, logger } = this.#options;
    for (const lost of lostContainers(statuses.facts(record), answer)) {
      logger.warn({ ...podFields(record.pod.metadata), ...lost }, 'the provider does not say how a container that ran has ended');
    }
  }

  /** A pod of which a change is expected is asked about soon. */
  #pollAgain(record: ProvidedPod, { phase }: WirePodStatus): void {
    const { soon, settled } = this.#options.pollMs;
    this.#pollIn(record, phase === 'Running' && record.change === undefined ? settled : soon);
  }

  #pollIn({ uid, pod }: ProvidedPod, delayMs: number | undefined): void {
    if (this.#isStopped || delayMs === undefined) return;
    const { notices, logger } = this.#options;
    callGuarded(
      () => this.#polls.set(uid, delayMs, () => notices.tell(uid)),
      (err) => logger.error({ err, ...podFields(pod.metadata) }, 'the clock set no timer; the pod waits for its next sync'),
    );
  }
}

/** Which rule says that nothing of a lost pod starts again. */
function whyNotAgain({ spec }: Pod): string {
  return spec?.restartPolicy === 'Never' ? 'restartPolicy Never' : "the containers' restart rules";
}

/** True while the last failure of this version of the pod is not to be repeated yet. */
function isWaiting({ failure, pod }: ProvidedPod, method: ProviderChange['method'], elapsed: number): boolean {
  return failure?.method === method && elapsed < failure.dueAt && isSameVersion(failure.pod, pod);
}
