import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import { isTerminalPhase, podUIDOf, requirePod } from '../../api/pod/pod-identity.ts';
import type { RunningPod } from '../../api/pod/runtime-pod.ts';
import type { Clock } from '../../base/clock.ts';
import { invalidArgument, invalidOption, StatusManagerError } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import { longestTimerMs, numberOption, requireKnownOptions } from '../../base/options.ts';
import type { PodProblem } from '../../base/problem.ts';
import { namesOf } from '../node-problems.ts';
import type {
  PodSyncer,
  SyncPodRequest,
  SyncPodResult,
  SyncTerminatedPodRequest,
  SyncTerminatingPodRequest,
} from '../workers/pod-syncer.ts';
import { CallTurns } from './call-turns.ts';
import { PodEnding } from './pod-ending.ts';
import { PodFolders } from './pod-folders.ts';
import { PodNotices } from './pod-notices.ts';
import type { NodePod, ResolvePodOptions } from './pod-provider.ts';
import { PodReleases } from './pod-releases.ts';
import type { ProvidedPod } from './provided-pod.ts';
import { ProvidedPodSync } from './provided-pod-sync.ts';
import { ProvidedPods } from './provided-pods.ts';
import { endedStatus, statusOfAnswer } from './provided-status.ts';
import { ProviderCalls } from './provider-calls.ts';
import { ProviderMetrics } from './provider-metrics.ts';
import type { PodCallReport } from './provider-node-reports.ts';
import { defaultPollMs, type ProviderPodSyncerOptions, resolveSyncerOptions } from './provider-pod-syncer-options.ts';
import { defaultGraceSeconds, providedPodProblem } from './provider-problems.ts';
import { ProviderRetries } from './provider-retries.ts';
import { ResolvedPods } from './resolved-pods.ts';
import { ToldStatuses } from './told-statuses.ts';

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
  readonly #notices: PodNotices;
  readonly #calls: ProviderCalls;
  readonly #recoveries: RecoveryLines;
  readonly #metrics: ProviderMetrics;
  readonly #statuses: ToldStatuses;
  readonly #sync: ProvidedPodSync;
  readonly #ending: PodEnding;
  readonly #releases: PodReleases;
  readonly #clock: Clock;
  readonly #resolved: ResolvedPods;
  #isStopped = false;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: ProviderPodSyncerOptions) {
    const checked = resolveSyncerOptions(options);
    const { statusManager, podChanged, hostIPs, pollMs, missingAfterMs, clock, logger } = checked;
    this.pods = new ProvidedPods(checked);
    this.#clock = clock;
    const { pods } = this;
    const notices = new PodNotices((podUID) => callGuarded(() => podChanged(podUID), ignoreFailure), clock);
    const metrics = new ProviderMetrics(checked);
    const statuses = new ToldStatuses({ statusManager, hostIPs, clock, metrics });
    const retries = new ProviderRetries(checked);
    const { concurrency, rateLimiter, changeTimeoutMs } = checked;
    const turns = new CallTurns({ concurrency, rateLimiter, mostHeldMs: changeTimeoutMs, clock });
    const recoveries = new RecoveryLines({ clock, logger });
    const calls = new ProviderCalls({
      ...checked,
      notices,
      metrics,
      factsOf: (record) => statuses.facts(record),
      isUnadopted: (podUID) => pods.isUnadopted(podUID),
      retries,
      turns,
      recoveries,
      mostAskMs: pollMs.settled ?? defaultPollMs,
    });
    this.#notices = notices;
    this.#metrics = metrics;
    this.#statuses = statuses;
    this.#calls = calls;
    this.#recoveries = recoveries;
    const { resolver, podFilesFolder: folder } = options;
    const folders = folder === undefined ? undefined : new PodFolders({ folder, nodeName: checked.nodeName ?? '', clock });
    const { random } = checked;
    const waits = { lookMs: pollMs.soon, random, clock, logger };
    const resolved = new ResolvedPods({ resolver, folders, calls, statuses, recoveries, ...waits });
    this.#resolved = resolved;
    this.#sync = new ProvidedPodSync({
      pods,
      calls,
      resolved,
      notices,
      retries,
      statuses,
      pollMs,
      missingAfterMs,
      clock,
      logger,
    });
    this.#ending = new PodEnding({ calls, pods, notices, retries, recoveries, pollMs: pollMs.soon, clock, logger });
    const released = (pod: Pod): void => void (this.#isStopped || statuses.tellTerminated(pod));
    this.#releases = new PodReleases({ pods, ending: this.#ending, released, retries, clock, logger });
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
    const alive = new Set(pods.filter(({ status }) => !isTerminalPhase(status?.phase)).map(podUIDOf));
    this.#resolved.sweep((podUID) => alive.has(podUID) || this.pods.mayRun(podUID));
  }

  /** As `resolvePod` of the tools that a node hands to its provider. */
  async resolvePod(pod: Pod, options: ResolvePodOptions = {}): Promise<NodePod> {
    requireKnownOptions('options', options, ['signal', 'containers']);
    const { signal, ...wanted } = options;
    if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalidOption('signal', 'an AbortSignal', signal);
    const record = this.pods.find(requirePod(pod));
    if (this.#isStopped) throw new StatusManagerError('ERR_STOPPED', 'The provider node is stopping or stopped');
    if (record === undefined || record.isTerminated)
      throw invalidArgument('pod', 'a pod of this node that has not ended', pod.metadata?.uid);
    return this.#resolved.resolveNow(record, wanted, signal);
  }

  /** Aborts every call of the provider. No timer is left; nothing that is still under way has any effect. */
  stop(): void {
    this.#isStopped = true;
    this.#statuses.stop();
    this.#resolved.stop();
    this.#sync.stop();
    this.#releases.stop();
    this.#notices.stop();
    this.#calls.stop();
    this.#recoveries.stop();
  }

  /**
   * Resolves once no call of the provider for a pod is under way, at the latest after `timeoutMs`, in milliseconds, to those that are,
   * at most 1000, the oldest first: after `stop()`, to what does not heed its signal. A call that was given up counts until it settles.
   */
  async callsSettled(timeoutMs: number): Promise<readonly PodCallReport[]> {
    const calls = await this.#calls.settled(numberOption('timeoutMs', timeoutMs, 0, longestTimerMs));
    return calls.map(({ pod, method, since }) => ({ ...namesOf(pod), method, since }));
  }

  /** The same as `stop()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
  }

  /** What is wrong between the pod and its provider; undefined where all is well. */
  problemOf(podUID: string): PodProblem | undefined {
    const record = this.pods.find(podUID);
    return record && providedPodProblem(record, this.#clock.now());
  }

  async syncPod({ pod, updateType }: SyncPodRequest, signal: AbortSignal): Promise<SyncPodResult> {
    const record = this.pods.take(pod);
    if (updateType === 'create') this.#metrics.syncBegins(pod);
    return this.#sync.sync(record, signal);
  }

  async syncTerminatingPod({ pod, gracePeriodSeconds, podStatusFn }: SyncTerminatingPodRequest, signal: AbortSignal) {
    const record = this.pods.take(pod);
    this.#sync.cancelPoll(record.uid);
    // its end may be changed by whoever ends it, such as an eviction
    const changed = (status: WirePodStatus): WirePodStatus => {
      podStatusFn?.(status);
      return status;
    };
    const request = {
      gracePeriodSeconds: Math.max(1, gracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds),
      releases: pod.metadata?.deletionTimestamp != null,
      told: (answer: WirePodStatus): void => {
        // what is left of a pod that was refused is no news of it
        if (record.rejection !== undefined) return;
        this.#statuses.tellChange(record, changed(statusOfAnswer(this.#statuses.facts(record), answer)));
      },
    };
    const answer = await this.#ending.end(record, request, signal);
    const last = record.rejection === undefined ? answer : undefined;
    this.#statuses.tell(record, changed(endedStatus(this.#statuses.facts(record), last)));
    if (request.releases) this.#releases.note(record.uid);
  }

  async syncTerminatingRuntimePod(runningPod: RunningPod, signal: AbortSignal): Promise<void> {
    const record = this.pods.takeRunning(runningPod);
    await this.#ending.end(record, { gracePeriodSeconds: 1, releases: true, told: () => {} }, signal);
    await this.#forget(record);
  }

  async syncTerminatedPod({ pod }: SyncTerminatedPodRequest): Promise<void> {
    // whoever hears that the pod has ended finds nothing of it left
    await this.#forget(this.pods.take(pod));
    this.#statuses.tellTerminated(pod);
  }

  async #forget(record: ProvidedPod): Promise<void> {
    this.#sync.cancelPoll(record.uid);
    this.#notices.forget(record.uid);
    await this.#resolved.forget(record);
    this.pods.noteTerminated(record);
  }
}
