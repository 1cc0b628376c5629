import type { V1PodStatus } from '@kubernetes/client-node';
import { requireText } from '../checks/arguments.ts';
import { longestTimerMs, numberOption } from '../checks/options.ts';
import { RunState, type RunStateName } from '../concurrency/run-state.ts';
import { StatusManagerError } from '../errors.ts';
import { requirePod } from '../pod/identified-pod.ts';
import { createTimeFormatter } from '../wire/time.ts';
import type { Pod, PodStatus, WirePodStatus } from '../wire/types.ts';
import { countTerminations } from './cache/count-terminations.ts';
import { PodStatuses, type VersionedPodStatus } from './cache/pod-statuses.ts';
import { removeOrphanedEntries, type UpdateRequest, updateStatusInternal } from './cache/update-status.ts';
import { normalizeStatus } from './canonical/normalize-status.ts';
import { ownCopy } from './canonical/own-copy.ts';
import { PodResizeConditions } from './resize/pod-resize-conditions.ts';
import { PodResizeStatus } from './resize/pod-resize-status.ts';
import { withContainerReadiness, withContainerStartup } from './rules/probe-results.ts';
import { terminatedStatus } from './rules/terminate-status.ts';
import { requireContainerID, requireStatus } from './rules/validate-status.ts';
import { podUpdatedEvent } from './status-manager-events.ts';
import { type ResolvedOptions, resolveOptions, type StatusManagerOptions } from './status-manager-options.ts';
import { AgentView } from './sync/agent-view.ts';
import { ApiCopies } from './sync/api-copies.ts';
import { explain, type PodExplanation } from './sync/explain.ts';
import { finishedStatus, isDueToFinish, keepPhase } from './sync/finish-when-reclaimed.ts';
import { type FlushResult, StatusSync } from './sync/status-sync.ts';
import type { Acknowledged } from './sync/sync-pod.ts';
import type { SyncFailure } from './sync/sync-records.ts';

/**
 * Keeps the apiserver's copy of every pod's status true. The agent says what it sees, synchronously and at any rate; the
 * manager writes the newest status of each pod, with one request a change, several pods at once, one write of a pod at
 * a time. What was last set is on the apiserver, or its pod is gone, as soon as the apiserver can take it.
 *
 * A kubelet-style manager: pkg/kubelet/status of Kubernetes v1.36.3 is the reference; DIVERGENCES.md lists what differs.
 */
export class StatusManager extends PodResizeStatus {
  readonly #options: ResolvedOptions;
  readonly #podStatuses = new PodStatuses();
  readonly #formatTime = createTimeFormatter();
  readonly #agent: AgentView;
  readonly #sync: StatusSync | undefined;
  readonly #podResizeConditions: PodResizeConditions;
  readonly #runState: RunState;

  /** Throws ERR_INVALID_OPTION for an option out of range or of the wrong type. Starts nothing. */
  constructor(options: StatusManagerOptions) {
    const resolved = resolveOptions(options);
    const podResizeConditions = new PodResizeConditions(resolved);
    const runState = new RunState();
    const onListenerError = (event: PropertyKey, error: unknown): void =>
      resolved.logger.error({ err: error, event }, 'a listener threw');
    super(onListenerError, podResizeConditions, runState);
    this.#options = resolved;
    this.#podResizeConditions = podResizeConditions;
    this.#runState = runState;
    const copies = new ApiCopies();
    this.#agent = new AgentView(resolved.podManager, resolved.podDeletionSafety, copies, resolved.logger);
    if (resolved.podClient === null) return;
    this.#sync = new StatusSync({
      podClient: resolved.podClient,
      resolved,
      podStatuses: this.#podStatuses,
      agent: this.#agent,
      copies,
      events: {
        acknowledged: (podUID, acknowledged) => this.#onAcknowledged(podUID, acknowledged),
        failed: (podUID, failure) => this.#onFailed(podUID, failure),
        ended: (podUID, how) => this.#onEnded(podUID, how),
      },
      beforeLook: (podUID, entry) => this.#finishIfDue(podUID, entry),
    });
  }

  get state(): RunStateName {
    return this.#runState.name;
  }

  /** Starts the sync. With a null client: logs, and stays idle. Throws ERR_ALREADY_STARTED on a second call, ERR_STOPPED after `stop`. */
  start(): void {
    this.#runState.assertNotStopped('start');
    if (this.#sync === undefined) {
      this.#options.logger.info({}, 'no pod client: statuses are cached and nothing is sent');
      return;
    }
    this.#runState.start();
    this.#sync.start();
  }

  /**
   * Takes the agent's newest view of a pod; a copy is made. True when the cache changed. A status the transition rules
   * forbid is refused: the cache stays, `illegalTransition` is emitted and false returned. While the pod has a
   * deletionTimestamp every call counts as a change. Throws ERR_INVALID_ARGUMENT, before anything changes.
   */
  setPodStatus(pod: Pod, status: PodStatus): boolean {
    this.#runState.assertNotStopped('setPodStatus');
    const podUID = requirePod(pod);
    const cached = this.#podStatuses.get(podUID);
    const { ownedConditionTypes } = this.#options;
    const next = normalizeStatus(pod, status, { previous: cached?.status, ownedConditionTypes });
    requireStatus(next, cached?.status);
    const generation = pod.metadata?.generation;
    if (generation) next.observedGeneration = generation;
    else if (next.observedGeneration !== undefined) delete next.observedGeneration;
    if (cached?.finishedByManager) keepPhase(next, cached.status);
    const deleting = Boolean(pod.metadata?.deletionTimestamp);
    return this.#update({ pod, podUID, status: next, force: deleting, podIsFinished: false, deletionSeen: deleting });
  }

  /**
   * A readiness probe's result. Recomputes Ready and ContainersReady. True when the cache changed; false too for a pod
   * or container that is not known. Throws ERR_INVALID_ARGUMENT.
   */
  setContainerReadiness(podUID: string, containerID: string, ready: boolean): boolean {
    return this.#probed('setContainerReadiness', podUID, containerID, (pod, status) =>
      withContainerReadiness(pod, status, containerID, ready),
    );
  }

  /** A startup probe's result. True when the cache changed. Throws ERR_INVALID_ARGUMENT. */
  setContainerStartup(podUID: string, containerID: string, started: boolean): boolean {
    return this.#probed('setContainerStartup', podUID, containerID, (_, status) =>
      withContainerStartup(status, containerID, started),
    );
  }

  /**
   * Nothing of the pod runs any more: containers without a known end become unknown (exit code 137), the phase becomes
   * terminal, and the pod may be deleted. True when the cache changed. Throws ERR_INVALID_ARGUMENT.
   */
  terminatePod(pod: Pod): boolean {
    this.#runState.assertNotStopped('terminatePod');
    const podUID = requirePod(pod);
    const base = this.#podStatuses.get(podUID)?.status ?? normalizeStatus(pod, pod.status ?? {});
    const { status, forcedPhaseFrom } = terminatedStatus(pod, base);
    if (forcedPhaseFrom !== undefined) {
      this.#options.logger.info({ podUID, phase: forcedPhaseFrom }, 'a terminated pod had no terminal phase; it is Failed now');
    }
    return this.#update({ pod, podUID, status: ownCopy(status), force: true, podIsFinished: true });
  }

  /** Drops the status and the resize conditions of every pod whose uid is not in the set. */
  removeOrphanedStatuses(knownPodUIDs: ReadonlySet<string>): void {
    this.#runState.assertNotStopped('removeOrphanedStatuses');
    for (const podUID of removeOrphanedEntries(this.#podStatuses, knownPodUIDs)) {
      this.#options.logger.debug({ podUID }, 'dropped the status of an orphaned pod');
      this.#sync?.worker.forget(podUID);
    }
    this.#podResizeConditions.retain(knownPodUIDs);
  }

  /** The newest status, frozen; a mirror pod's uid answers for its static pod. Works in every state. */
  getPodStatus(podUID: string): V1PodStatus | undefined {
    return this.#podStatuses.get(this.#agent.translate(podUID))?.view;
  }

  /** Looks at this pod now, not at the next batch, whatever it waits for. */
  reconcile(podUID: string): void {
    this.#runState.assertNotStopped('reconcile');
    this.#sync?.worker.reconcile(this.#agent.translate(podUID));
  }

  /** Why this pod's newest status is, or is not, on the apiserver. Works in every state. */
  explain(podUID: string): PodExplanation {
    const view = this.#sync?.view ?? {
      podStatuses: this.#podStatuses,
      agent: this.#agent,
      records: undefined,
      running: false,
      pausedUntil: undefined,
    };
    return explain(view, this.#agent.translate(podUID));
  }

  /**
   * Resolves when what was set before this call, for one pod or for all, is on the apiserver or its pod is gone; pods
   * that only time or the agent can move on are listed in `held`. Rejects with ERR_FLUSH_TIMEOUT after `timeoutMs`
   * (default 30 000), naming the pods and each one's reason; at once with ERR_NO_CLIENT, ERR_NOT_STARTED or ERR_STOPPED.
   */
  async flush({ timeoutMs = 30_000, podUID }: { timeoutMs?: number; podUID?: string } = {}): Promise<FlushResult> {
    numberOption('timeoutMs', timeoutMs, 0, longestTimerMs);
    this.#runState.assertNotStopped('flush');
    if (this.#sync === undefined)
      throw new StatusManagerError('ERR_NO_CLIENT', 'flush() needs a pod client, and the manager has none');
    if (this.state !== 'running') throw new StatusManagerError('ERR_NOT_STARTED', 'flush() was called before start()');
    const podUIDs = podUID === undefined ? this.#podStatuses.podUIDs() : [this.#agent.translate(podUID)];
    return this.#sync.flush(podUIDs, timeoutMs);
  }

  /**
   * Flushes for at most `drainTimeoutMs` (default 10 000), then aborts. Once it resolves nothing is in flight and no
   * timer is left. Every call after the first returns the first one's promise. The pod client stays open: it is its owner's.
   */
  stop({ drainTimeoutMs = 10_000 }: { drainTimeoutMs?: number } = {}): Promise<void> {
    numberOption('drainTimeoutMs', drainTimeoutMs, 0, longestTimerMs);
    const wasRunning = this.state === 'running';
    return this.#runState.stop(async () => {
      if (this.#sync === undefined || !wasRunning) return;
      if (drainTimeoutMs > 0) {
        await this.#sync
          .flush(this.#podStatuses.podUIDs(), drainTimeoutMs)
          .catch((error: unknown) => this.#options.logger.warn({ err: error }, 'stopped before every status was written'));
      }
      await this.#sync.stop();
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #probed(
    operation: string,
    podUID: string,
    containerID: string,
    change: (pod: Pod, status: WirePodStatus) => WirePodStatus | undefined,
  ): boolean {
    this.#runState.assertNotStopped(operation);
    requireText('podUID', podUID);
    requireContainerID('containerID', containerID);
    const pod = this.#agent.pod(podUID);
    const cached = this.#podStatuses.get(podUID);
    const status = pod && cached && change(pod, cached.status);
    if (status === undefined) {
      this.#options.logger.debug({ podUID, containerID, operation }, 'a probe result changed nothing');
      return false;
    }
    return this.#update({ pod: pod as Pod, podUID, status, force: false, podIsFinished: false });
  }

  #update(change: Omit<UpdateRequest, 'fallback' | 'acknowledged' | 'now' | 'formatTime' | 'ownedConditionTypes'>): boolean {
    const { pod, podUID } = change;
    const { logger, clock, ownedConditionTypes } = this.#options;
    const cached = this.#podStatuses.get(podUID);
    const outcome = updateStatusInternal(this.#podStatuses, {
      ...change,
      fallback: () => this.#statusBefore(pod),
      acknowledged: cached !== undefined && (this.#sync?.records.acknowledgedVersion(podUID) ?? 0) >= cached.version,
      now: clock.now(),
      formatTime: this.#formatTime,
      ownedConditionTypes,
    });
    if (outcome.kind === 'unchanged') return false;
    if (outcome.kind === 'refused') {
      logger.error(
        { podUID, reason: outcome.reason },
        'a status was refused: its container states cannot follow the cached ones',
      );
      this.notify('illegalTransition', { pod, podUID, reason: outcome.reason });
      return false;
    }
    countTerminations(this.#options.metrics, outcome.previous, outcome.entry.status);
    this.#sync?.worker.podStatusChannel.trySend(podUID);
    this.#tell(pod, outcome.entry, outcome.isAdded);
    return true;
  }

  #tell(pod: Pod, entry: VersionedPodStatus, isAdded: boolean): void {
    if (entry.podIsFinished) this.notify('podRemoved', { pod });
    else if (this.listenerCount('podUpdated') > 0) this.notify('podUpdated', podUpdatedEvent(pod, entry, isAdded));
  }

  /** What a pod without a cached status had before: its mirror pod's status, or its own. */
  #statusBefore(pod: Pod): WirePodStatus {
    const source = this.#options.podManager.getMirrorPodByPod(pod) ?? pod;
    return normalizeStatus(source, source.status ?? {});
  }

  #onAcknowledged(podUID: string, { entry, patched }: Acknowledged): void {
    const { metrics, clock } = this.#options;
    metrics.observe('kubelet_pod_status_sync_duration_seconds', Math.max(0, clock.now() - entry.at) / 1000);
    const { podName, podNamespace, version } = entry;
    this.notify('synced', { podUID, podName, podNamespace, version, patched });
    const newest = this.#podStatuses.get(podUID);
    if (newest !== undefined) this.#finishIfDue(podUID, newest);
  }

  #onFailed(podUID: string, { errorClass, error, attempts, retryInMs }: SyncFailure): void {
    const entry = this.#podStatuses.get(podUID);
    this.#options.logger.warn({ err: error, podUID, errorClass, attempts, retryInMs }, 'a pod could not be brought up to date');
    const { podName, podNamespace } = entry ?? {};
    this.notify('syncError', { podUID, podName, podNamespace, errorClass, error, attempts, retryInMs });
  }

  #onEnded(podUID: string, how: 'recreated' | 'deleted'): void {
    this.#options.logger.info({ podUID, how }, 'the pod is no more; its status is dropped');
    this.#podStatuses.delete(podUID);
    this.#podResizeConditions.delete(podUID);
    this.#sync?.worker.forget(podUID);
  }

  /** Design decision: a deleted pod of an agent that never calls `terminatePod` is finished here. */
  #finishIfDue(podUID: string, entry: VersionedPodStatus): void {
    if (!this.#options.terminateWhenReclaimed || this.#sync === undefined) return;
    if (!isDueToFinish(this.#agent, this.#sync.records, podUID, entry)) return;
    const pod = this.#agent.pod(podUID);
    if (pod === undefined) return;
    const status = ownCopy(finishedStatus(pod, entry.status));
    this.#update({ pod, podUID, status, force: true, podIsFinished: true, finishedByManager: true });
  }
}
