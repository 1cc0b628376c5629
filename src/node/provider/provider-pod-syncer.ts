import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import type { RunningPod } from '../../api/pod/runtime-pod.ts';
import { settlesWithin } from '../../base/concurrency/aborts.ts';
import { KeyedTimers } from '../../base/concurrency/timers.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { canonicalPodStatus } from '../../status/canonical/canonical-status.ts';
import type {
  PodSyncer,
  SyncPodRequest,
  SyncPodResult,
  SyncTerminatedPodRequest,
  SyncTerminatingPodRequest,
} from '../workers/pod-syncer.ts';
import { PodEnding, PodReleases } from './pod-ending.ts';
import { PodNotices } from './pod-notices.ts';
import { isSameVersion, type ProvidedPod, type ProviderChange, type ProviderFailure } from './provided-pod.ts';
import { ProvidedPods } from './provided-pods.ts';
import { endedStatus, isUnbegun, lostStatus, type StatusFacts, statusOfAnswer, waitingStatus } from './provided-status.ts';
import { failureText, ProviderCalls, ProviderRetries } from './provider-calls.ts';
import { ProviderMeasures } from './provider-node-reports.ts';
import {
  defaultPollMs,
  type ProviderPodSyncerOptions,
  type ResolvedSyncerOptions,
  resolveSyncerOptions,
} from './provider-pod-syncer-options.ts';

/** So long a sync waits for `createPod` and `updatePod`; what takes longer goes on beside it. */
const quickMs = 1000;
/** A pod's own grace period where nobody says one, in seconds, as the apiserver's default. */
const defaultGracePeriodSeconds = 30;

/**
 * Syncs pods by a {@link PodProvider}: each sync asks for the pod's status and tells it to the status manager; a pod that is
 * not there is created once, one that has changed is updated, one that ends is deleted and waited for. A pod that the provider
 * has already is taken over.
 *
 * A call of the provider that takes long, or for ever, occupies its own pod only: the pod's status is asked for meanwhile.
 *
 * @example
 * ```ts
 * import { BasicPodManager, StatusManager } from 'pod-status-manager';
 * import { PodWorkers, ProviderPodSyncer } from 'pod-status-manager/node';
 * import { buildPod, FakePodClient } from 'pod-status-manager/testing';
 *
 * const nothingRuns = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => true };
 * const podManager = new BasicPodManager();
 * const statusManager = new StatusManager({ podClient: new FakePodClient(), podManager, podDeletionSafety: nothingRuns });
 * const { promise: created, resolve } = Promise.withResolvers<string>();
 * const syncer = new ProviderPodSyncer({
 *   provider: {
 *     createPod: ({ metadata }) => resolve(metadata.name),
 *     deletePod: () => {},
 *     getPodStatus: () => undefined,
 *   },
 *   statusManager,
 *   podChanged: () => {}, // a sync loop's podChanged
 * });
 * const workers = new PodWorkers({ podSyncer: syncer, runtimeStatusCache: syncer.pods });
 * workers.updatePod({ updateType: 'create', pod: buildPod() });
 * console.log(await created); // pod-1
 * syncer.stop();
 * await workers.stop();
 * ```
 */
export class ProviderPodSyncer implements PodSyncer {
  /** What the provider has: the workers' `runtimeStatusCache`, and the sync loop's `runtime`. */
  readonly pods: ProvidedPods;
  readonly #options: ResolvedSyncerOptions;
  readonly #notices: PodNotices;
  readonly #calls: ProviderCalls;
  readonly #measures: ProviderMeasures;
  readonly #retries: ProviderRetries;
  readonly #ending: PodEnding;
  readonly #releases: PodReleases;
  /** The next question about a pod of which something is expected soon. */
  readonly #polls: KeyedTimers<string>;
  #isStopped = false;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: ProviderPodSyncerOptions) {
    this.#options = resolveSyncerOptions(options);
    const {
      podChanged,
      pollMs: { soon, settled },
      clock,
      logger,
    } = this.#options;
    this.pods = new ProvidedPods(this.#options);
    this.#notices = new PodNotices((podUID) => callGuarded(() => podChanged(podUID), ignoreFailure), clock);
    this.#measures = new ProviderMeasures(this.#options);
    const retries = new ProviderRetries(this.#options);
    this.#retries = retries;
    this.#calls = new ProviderCalls({
      ...this.#options,
      notices: this.#notices,
      measures: this.#measures,
      factsOf: (record) => this.#facts(record),
      retries,
      mostAskMs: settled ?? defaultPollMs,
    });
    this.#ending = new PodEnding({ calls: this.#calls, notices: this.#notices, retries, pollMs: soon, clock, logger });
    const released = (pod: Pod): void => void (this.#isStopped || this.#options.statusManager.terminatePod(pod));
    this.#releases = new PodReleases({ pods: this.pods, ending: this.#ending, released, retries, clock, logger });
    this.#polls = new KeyedTimers(clock);
  }

  /** Something of the pod may have changed: it is asked about soon. A pod that is not known is passed over. */
  notice(podUID: string): void {
    if (!this.#isStopped && this.pods.find(podUID) !== undefined) this.#notices.tell(podUID);
  }

  /**
   * True once the provider has nothing more to free of a deleted pod: before that the apiserver must not let the pod go. Part of
   * the status manager's `podResourcesAreReclaimed`.
   */
  isReleased(podUID: string): boolean {
    return this.#releases.isReleased(podUID);
  }

  /**
   * Deletes, beside the workers, what the provider has of deleted pods that had ended before. To be called again and again, as at
   * each housekeeping, with all pods of the agent. `isFinished`: true for a pod that the workers know and are done with.
   */
  releasePods(pods: readonly Pod[], isFinished: (podUID: string) => boolean): void {
    this.#releases.look(pods, isFinished);
  }

  /** Aborts every call of the provider. No timer is left; nothing that is still under way has any effect. */
  stop(): void {
    this.#isStopped = true;
    this.#polls.cancelAll();
    this.#releases.stop();
    this.#notices.stop();
    this.#calls.stop();
  }

  /** The same as `stop()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
  }

  async syncPod({ pod, updateType }: SyncPodRequest, signal: AbortSignal): Promise<SyncPodResult> {
    const record = this.pods.take(pod);
    if (updateType === 'create') this.#measures.syncBegins(pod);
    this.#polls.cancel(record.uid);
    if (!record.isHeld && record.change === undefined) {
      const namesake = this.pods.namesakeOf(record);
      if (namesake !== undefined) return this.#holdBack(record, namesake);
    }
    const answer = await this.#calls.ask(record, signal);
    return answer === undefined ? this.#syncMissing(record, signal) : this.#syncThere(record, answer, signal);
  }

  async syncTerminatingPod({ pod, gracePeriodSeconds, podStatusFn }: SyncTerminatingPodRequest, signal: AbortSignal) {
    const record = this.pods.take(pod);
    this.#polls.cancel(record.uid);
    const tell = (status: WirePodStatus): void => {
      podStatusFn?.(status);
      this.#tell(record, status);
    };
    const request = {
      gracePeriodSeconds: Math.max(1, gracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? defaultGracePeriodSeconds),
      releases: pod.metadata?.deletionTimestamp != null,
      told: (answer: WirePodStatus) => tell(statusOfAnswer(this.#facts(record), answer)),
    };
    const answer = await this.#ending.end(record, request, signal);
    tell(endedStatus(this.#facts(record), answer));
    if (request.releases) this.#releases.note(record.uid);
  }

  async syncTerminatingRuntimePod(runningPod: RunningPod, signal: AbortSignal): Promise<void> {
    const record = this.pods.takeRunning(runningPod);
    await this.#ending.end(record, { gracePeriodSeconds: 1, releases: true, told: () => {} }, signal);
    this.#forget(record);
  }

  async syncTerminatedPod({ pod }: SyncTerminatedPodRequest): Promise<void> {
    this.#options.statusManager.terminatePod(pod);
    this.#forget(this.pods.take(pod));
  }

  async #syncThere(record: ProvidedPod, answer: WirePodStatus, signal: AbortSignal): Promise<SyncPodResult> {
    const status = statusOfAnswer(this.#facts(record), answer);
    if (record.failure?.method === 'createPod' && record.change === undefined) {
      if (isUnbegun(status)) return this.#createAgain(record, record.failure, signal);
      record.failure = undefined;
    }
    this.#tell(record, status);
    if (isTerminalPhase(status.phase)) return { isTerminal: true };
    if (record.change === undefined && record.needsUpdate) {
      await this.#change(record, 'updatePod', signal);
      return this.#syncAgain(record, signal);
    }
    const isSettled = status.phase === 'Running' && record.change === undefined;
    this.#pollIn(record, isSettled ? this.#options.pollMs.settled : this.#options.pollMs.soon);
    return { isTerminal: false };
  }

  /** `createPod` has failed, and the pod waits all the same. It is asked about until the next call is due. */
  async #createAgain(record: ProvidedPod, failure: ProviderFailure, signal: AbortSignal): Promise<SyncPodResult> {
    const { clock, pollMs } = this.#options;
    const restMs = failure.dueAt - clock.elapsed();
    if (isWaiting(record, 'createPod', clock.elapsed())) {
      const text = failureText('createPod', failure.message);
      this.#tell(record, waitingStatus(this.#facts(record), 'ProviderCreateFailed', text));
      this.#pollIn(record, Math.min(restMs, pollMs.settled ?? restMs));
      return { isTerminal: false };
    }
    await this.#change(record, 'createPod', signal);
    return this.#syncAgain(record, signal);
  }

  async #syncMissing(record: ProvidedPod, signal: AbortSignal): Promise<SyncPodResult> {
    const { clock, missingAfterMs, pollMs } = this.#options;
    if (record.change !== undefined) return this.#wait(record);
    if (record.isHeld) {
      record.missingSince ??= clock.elapsed();
      // what the provider's list does not have either was lost while the agent was away
      const restMs = record.isUnlisted ? 0 : record.missingSince + missingAfterMs - clock.elapsed();
      if (restMs > 0) {
        // a provider may need a moment until it shows what it has begun; what was told stays
        if (this.#facts(record).previous === undefined)
          this.#tell(record, waitingStatus(this.#facts(record), 'ContainerCreating'));
        this.#pollIn(record, Math.min(restMs, pollMs.soon));
        return { isTerminal: false };
      }
      const status = this.#lose(record);
      if (isTerminalPhase(status.phase)) return { isTerminal: true };
    }
    await this.#change(record, 'createPod', signal);
    return this.#syncAgain(record, signal);
  }

  /** A change was waited for: what has it led to? */
  async #syncAgain(record: ProvidedPod, signal: AbortSignal): Promise<SyncPodResult> {
    if (record.change !== undefined && !record.isHeld) return this.#wait(record);
    const answer = await this.#calls.ask(record, signal);
    if (answer === undefined) return this.#wait(record);
    const status = statusOfAnswer(this.#facts(record), answer);
    this.#tell(record, status);
    const isSettled = status.phase === 'Running' && record.change === undefined;
    this.#pollIn(record, isSettled ? this.#options.pollMs.settled : this.#options.pollMs.soon);
    return { isTerminal: isTerminalPhase(status.phase) };
  }

  /** The provider may take the one for the other: neither is asked about, nor created, before the earlier one is deleted. */
  #holdBack(record: ProvidedPod, namesake: string): SyncPodResult {
    const text = `The provider still has pod ${namesake} of the same name; this one is created once that one is deleted`;
    this.#calls.event(record, 'ProviderPodWaits', text);
    return this.#wait(record);
  }

  /** The pod is being created. */
  #wait(record: ProvidedPod): SyncPodResult {
    const { change } = record;
    const late = change?.late === undefined ? undefined : failureText(change.method, change.late);
    const reason = late === undefined ? 'ContainerCreating' : 'ProviderCreateFailed';
    this.#tell(record, waitingStatus(this.#facts(record), reason, late));
    this.#pollIn(record, this.#options.pollMs.soon);
    return { isTerminal: false };
  }

  /** Resolves when the change has settled, or goes on beside the sync. Rejects when it has failed, and while a retry is not due. */
  async #change(record: ProvidedPod, method: ProviderChange['method'], signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    if (!isWaiting(record, method, clock.elapsed())) {
      const change = this.#calls.change(record, method);
      change.isAwaited = true;
      await settlesWithin(change.settled, { clock, timeoutMs: quickMs, signal });
      change.isAwaited = false;
      signal.throwIfAborted();
    }
    const { failure } = record;
    if (failure?.method !== method || record.change !== undefined) return;
    const text = failureText(method, failure.message);
    if (method === 'createPod') this.#tell(record, waitingStatus(this.#facts(record), 'ProviderCreateFailed', text));
    // what the provider has is asked about meanwhile, whenever the change is due again
    if (record.isHeld) this.#pollIn(record, this.#options.pollMs.settled);
    throw this.#retries.backoffError(text, failure.dueAt);
  }

  #lose(record: ProvidedPod): WirePodStatus {
    record.noteGone();
    const status = lostStatus(this.#facts(record));
    const next = status.phase === 'Failed' ? 'it may not start again' : 'it is created again';
    this.#calls.event(record, 'ProviderPodLost', `The provider no longer has the pod, which was not deleted: ${next}`);
    this.#tell(record, status);
    return status;
  }

  #forget(record: ProvidedPod): void {
    this.#polls.cancel(record.uid);
    this.#notices.forget(record.uid);
    this.pods.noteTerminated(record);
  }

  #tell({ pod, uid }: ProvidedPod, status: WirePodStatus): void {
    if (this.#isStopped) return;
    const { statusManager } = this.#options;
    const before = statusManager.getPodStatus(uid)?.phase ?? pod.status?.phase;
    if (status.phase === 'Running' && (before === undefined || before === 'Pending')) this.#measures.runs(pod);
    statusManager.setPodStatus(pod, status);
  }

  #pollIn({ uid }: ProvidedPod, delayMs: number | undefined): void {
    if (this.#isStopped || delayMs === undefined) return;
    callGuarded(
      () => this.#polls.set(uid, delayMs, () => this.#notices.tell(uid)),
      (err) => this.#options.logger.error({ err, podUID: uid }, 'the clock set no timer; the pod waits for its next sync'),
    );
  }

  #facts({ pod, uid }: ProvidedPod): StatusFacts {
    const { statusManager, hostIPs, clock } = this.#options;
    return { pod, previous: previousStatus(pod, statusManager.getPodStatus(uid)), hostIPs: hostIPs(), now: clock.now() };
  }
}

/** True while the last failure of this version of the pod is not to be repeated yet. */
function isWaiting({ failure, pod }: ProvidedPod, method: ProviderChange['method'], elapsed: number): boolean {
  return failure?.method === method && elapsed < failure.dueAt && isSameVersion(failure.pod, pod);
}

/** What was told last: by this run of the agent, or by an earlier one. */
function previousStatus(pod: Pod, told: Pod['status']): WirePodStatus | undefined {
  const status = told ?? pod.status;
  if (status === undefined) return undefined;
  return callGuarded(() => canonicalPodStatus(status), ignoreFailure);
}
