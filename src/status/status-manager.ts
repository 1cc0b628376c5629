import type { V1PodStatus } from '@kubernetes/client-node';
import type { Pod, PodStatus, WirePodStatus } from '../api/json/types.ts';
import { requirePod } from '../api/pod/pod-identity.ts';
import { podFields } from '../api/pod/pod-log-fields.ts';
import { BoundedChannel } from '../base/concurrency/bounded-channel.ts';
import { Emitter, type Listenable } from '../base/concurrency/emitter.ts';
import { RunState, type RunStateName } from '../base/concurrency/run-state.ts';
import { settlesUnlessStill } from '../base/concurrency/standstill.ts';
import { invalidArgument, StatusManagerError } from '../base/errors.ts';
import { callGuarded, ignoreFailure } from '../base/guard.ts';
import {
  iterableOption,
  longestTimerMs,
  numberOption,
  requireBoolean,
  requireKnownOptions,
  requireText,
} from '../base/options.ts';
import type { PodProblem } from '../base/problem.ts';
import { cachedStatus } from './cached-status.ts';
import { ownCopy } from './canonical/canonical-json.ts';
import { normalizeStatus } from './canonical/normalize-status.ts';
import { type StatusManagerEvents, statusManagerEventNames } from './events/status-manager-events.ts';
import { PodResizeConditions, PodResizes } from './resize/pod-resizes.ts';
import { withContainerReadiness, withContainerStartup } from './rules/probe-results.ts';
import { terminatedStatus } from './rules/terminate-status.ts';
import { requireContainerID, requireStatus } from './rules/validate-status.ts';
import { StatusCache, type StatusChange } from './status-cache.ts';
import { type ResolvedOptions, resolveOptions, type StatusManagerOptions } from './status-manager-options.ts';
import { AgentView } from './sync/agent-view.ts';
import { ApiCopies } from './sync/api-copies.ts';
import { explain, type PodExplanation } from './sync/explain.ts';
import { keepPhase } from './sync/finish-when-reclaimed.ts';
import type { FlushResult } from './sync/flush-waiters.ts';
import { PodProblems } from './sync/pod-problems.ts';
import { PodSourceView } from './sync/pod-source-view.ts';
import { type SnapshotContext, type StatusManagerSnapshot, snapshotOf } from './sync/snapshot.ts';
import { StatusSync, type StopResult } from './sync/status-sync.ts';
import { SyncPhases } from './sync/sync-phase.ts';

/**
 * Keeps the apiserver's copy of every pod's status true. The agent says what it sees, synchronously and at any rate; the
 * manager writes the newest status of each pod, with one request a change, several pods at once, one write of a pod at
 * a time. What was last set is on the apiserver, or its pod is gone, as soon as the apiserver can take it.
 *
 * A kubelet-style manager: pkg/kubelet/status of Kubernetes v1.36.3 is the reference; docs/divergences lists what differs.
 *
 * @example
 * ```ts with-server
 * import { BasicPodManager, KubePodClient, StatusManager } from 'pod-status-manager';
 *
 * const spec = { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:1' }] };
 * const pod = server.store.create({ metadata: { name: 'web' }, spec });
 * const podManager = new BasicPodManager();
 * podManager.addPod(pod);
 * const podClient = KubePodClient.fromKubeConfig(kubeConfig);
 * const nothingRuns = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => true };
 *
 * const manager = new StatusManager({ podClient, podManager, podDeletionSafety: nothingRuns });
 * manager.start();
 * manager.setPodStatus(pod, { phase: 'Running' }); // never waits
 * await manager.flush();
 * console.log(server.store.get('default', 'web').status?.phase); // Running
 *
 * await manager.stop();
 * await podClient.close();
 * ```
 */
export class StatusManager implements Listenable<StatusManagerEvents> {
  /** The resize conditions of pods. */
  readonly resizes: PodResizes;
  readonly #options: ResolvedOptions;
  readonly #events: Emitter<StatusManagerEvents>;
  readonly #runState = new RunState<StopResult>('manager');
  readonly #resizeConditions: PodResizeConditions;
  readonly #channel: BoundedChannel<string>;
  readonly #cache: StatusCache;
  readonly #agent: AgentView;
  readonly #sync: StatusSync | undefined;
  readonly #phases: SyncPhases;
  readonly #problems: PodProblems;

  /** Throws ERR_INVALID_OPTION for an option that is unknown, out of range or of the wrong type. Starts nothing. */
  constructor(options: StatusManagerOptions) {
    const resolved = resolveOptions(options);
    const { podClient, podManager, podDeletionSafety, ownedConditionTypes, clock, logger, metrics } = resolved;
    const events = new Emitter<StatusManagerEvents>(statusManagerEventNames, (event, err) =>
      logger.error({ err, event }, 'a listener failed'),
    );
    const source = new PodSourceView(resolved.podSource, clock);
    const copies = new ApiCopies(clock, source);
    const agent = new AgentView(podManager, podDeletionSafety, copies, logger);
    const podStatusChannel = new BoundedChannel<string>(resolved.channelCapacity);
    const resizeConditions = new PodResizeConditions({ clock, metrics });
    const cache = new StatusCache({
      podManager,
      resizeConditions,
      podStatusChannel: podClient === null ? undefined : podStatusChannel,
      events,
      ownedConditionTypes,
      clock,
      logger,
      metrics,
    });
    const runState = this.#runState;

    this.resizes = new PodResizes(resizeConditions, runState);
    this.#options = resolved;
    this.#events = events;
    this.#resizeConditions = resizeConditions;
    this.#channel = podStatusChannel;
    this.#cache = cache;
    this.#agent = agent;
    if (podClient === null) {
      const phases = new SyncPhases({ podStatuses: cache, agent, records: undefined, gate: undefined, runState });
      this.#phases = phases;
      this.#problems = new PodProblems({ cache, agent, records: undefined, phases, gate: undefined, clock });
      return;
    }
    this.#sync = new StatusSync({ ...resolved, podClient, cache, agent, copies, source, podStatusChannel, events, runState });
    this.#phases = this.#sync.phases;
    this.#problems = this.#sync.problems;
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
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
   * Takes the agent's newest view of a pod; a copy is made. True when the cache changed. One thing is refused, as by the kubelet:
   * a container that has ended and may not run again, by its restart policy, runs or waits again; or the status before lists init
   * containers otherwise than the spec. The cache then stays, `illegalTransition` is emitted and false returned. A phase that was
   * final, or a restart count that was higher, is not kept. While the pod has a deletionTimestamp every call counts as a change.
   * Throws ERR_INVALID_ARGUMENT, before anything changes, and ERR_STOPPED after `stop`.
   */
  setPodStatus(pod: Pod, status: PodStatus): boolean {
    this.#runState.assertNotStopped('setPodStatus');
    const podUID = requirePod(pod);
    const cached = this.#cache.get(podUID);
    const { ownedConditionTypes } = this.#options;
    const next = normalizeStatus(pod, status, { previous: cached?.status, ownedConditionTypes });
    requireStatus(next, cached?.status);
    const generation = pod.metadata?.generation;
    if (generation) next.observedGeneration = generation;
    else if (next.observedGeneration !== undefined) delete next.observedGeneration;
    if (cached?.finishedByManager) keepPhase(next, cached.status);
    const deleting = Boolean(pod.metadata?.deletionTimestamp);
    const how = { force: deleting, podIsFinished: false, deletionSeen: deleting, isSetByAgent: true };
    return this.#update({ pod, podUID, status: next, ...how });
  }

  /**
   * A readiness probe's result. Recomputes Ready and ContainersReady. True when the cache changed; false too for a pod
   * or container that is not known. Throws ERR_INVALID_ARGUMENT, also for a result that is no boolean, such as a promise, and
   * ERR_STOPPED after `stop`.
   */
  setContainerReadiness(podUID: string, containerID: string, ready: boolean): boolean {
    this.#requireProbe('setContainerReadiness', podUID, containerID, 'ready', ready);
    return this.#probed('setContainerReadiness', podUID, containerID, (pod, status) =>
      withContainerReadiness(pod, status, containerID, ready),
    );
  }

  /** A startup probe's result. True when the cache changed. Throws ERR_INVALID_ARGUMENT and ERR_STOPPED as `setContainerReadiness` does. */
  setContainerStartup(podUID: string, containerID: string, started: boolean): boolean {
    this.#requireProbe('setContainerStartup', podUID, containerID, 'started', started);
    return this.#probed('setContainerStartup', podUID, containerID, (_, status) =>
      withContainerStartup(status, containerID, started),
    );
  }

  /**
   * Nothing of the pod runs any more: containers without a known end become unknown (exit code 137), the phase becomes
   * terminal, and the pod may be deleted. From now on `terminateWhenReclaimed` finishes no pod. True when the cache changed.
   * Throws ERR_INVALID_ARGUMENT, and ERR_STOPPED after `stop`.
   */
  terminatePod(pod: Pod): boolean {
    this.#runState.assertNotStopped('terminatePod');
    const podUID = requirePod(pod);
    const base = this.#cache.get(podUID)?.status ?? normalizeStatus(pod, pod.status ?? {});
    const { status, forcedPhaseFrom } = terminatedStatus(pod, base);
    if (forcedPhaseFrom !== undefined) {
      this.#options.logger.info(
        { ...podFields(pod.metadata), phase: forcedPhaseFrom },
        'a terminated pod had no terminal phase; it is Failed now',
      );
    }
    this.#sync?.leaveFinishingToAgent();
    return this.#update({ pod, podUID, status: ownCopy(status), force: true, podIsFinished: true, isSetByAgent: true });
  }

  /**
   * Drops the status and the resize conditions of every pod whose uid is not in the set. Throws ERR_INVALID_ARGUMENT for
   * anything but a set, and ERR_STOPPED after `stop`.
   */
  removeOrphanedStatuses(knownPodUIDs: ReadonlySet<string>): void {
    this.#runState.assertNotStopped('removeOrphanedStatuses');
    if (typeof knownPodUIDs?.has !== 'function') throw invalidArgument('knownPodUIDs', 'a Set of pod uids', knownPodUIDs);
    for (const podUID of this.#cache.podUIDs()) {
      if (knownPodUIDs.has(podUID)) continue;
      this.#options.logger.debug(this.#cache.fieldsOf(podUID), 'dropped the status of an orphaned pod');
      if (this.#sync === undefined) this.#cache.drop(podUID);
      else this.#sync.forget(podUID, 'orphaned');
    }
    this.#cache.troubles.retain(knownPodUIDs);
    this.#resizeConditions.retain(knownPodUIDs);
  }

  /** The newest status, frozen; a mirror pod's uid answers for its static pod. Works in every state. */
  getPodStatus(podUID: string): V1PodStatus | undefined {
    return this.#cache.get(this.#translate(podUID))?.view;
  }

  /** For other parts of this library: the newest status as it is kept, to be read and never changed. */
  [cachedStatus](podUID: string): WirePodStatus | undefined {
    return this.#cache.get(this.#translate(podUID))?.status;
  }

  /**
   * Sends this pod as soon as a slot is free, whatever it waits for. A pod that no pod source watches is read first. Throws
   * ERR_STOPPED after `stop`.
   */
  reconcile(podUID: string): void {
    this.#runState.assertNotStopped('reconcile');
    this.#sync?.reconcile(this.#translate(podUID));
  }

  /** Why this pod's newest status is, or is not, on the apiserver. Works in every state. */
  explain(podUID: string): PodExplanation {
    return explain({ ...this.#options, ...this.#knowledge() }, this.#translate(podUID));
  }

  /** What is wrong with each pod, every one of them; `snapshot()` lists at most 1000. Works in every state. */
  problems(): readonly PodProblem[] {
    return Object.freeze(this.#problems.all());
  }

  /**
   * What the manager holds and does right now: its channel, its requests, and where each pod stands. Frozen. `podUIDs`: the
   * pods to list; one without a status is left out. Default: all. Changes nothing. Works in every state. Throws ERR_INVALID_OPTION.
   */
  snapshot(options: { podUIDs?: Iterable<string> } = {}): StatusManagerSnapshot {
    requireKnownOptions('options', options, ['podUIDs']);
    const podUIDs = iterableOption('podUIDs', options.podUIDs ?? this.#cache.podUIDs());
    const { inFlight = 0 } = this.#sync ?? {};
    const context = { ...this.#knowledge(), state: this.state, at: this.#options.clock.now(), channel: this.#channel, inFlight };
    return snapshotOf(context, podUIDs);
  }

  /**
   * Resolves when what was set before this call, for one pod or for all, is on the apiserver or its pod is gone; pods
   * that only time or the agent can move on, and pods that are gone, are listed in `held`. Rejects with ERR_FLUSH_TIMEOUT
   * after `timeoutMs` (default 30 000): the error's `pods` name each pod with its phase and its last error. Rejects at once
   * with ERR_NO_CLIENT, ERR_NOT_STARTED or ERR_STOPPED, and with ERR_INVALID_OPTION for an option that is wrong.
   */
  async flush(options: { timeoutMs?: number; podUID?: string } = {}): Promise<FlushResult> {
    requireKnownOptions('options', options, ['timeoutMs', 'podUID']);
    const { timeoutMs = 30_000, podUID } = options;
    numberOption('timeoutMs', timeoutMs, 0, longestTimerMs);
    if (podUID !== undefined) requireText('podUID', podUID);
    this.#runState.assertNotStopped('flush');
    if (this.#sync === undefined)
      throw new StatusManagerError('ERR_NO_CLIENT', 'flush() needs a pod client, and the manager has none');
    if (this.state !== 'running') throw new StatusManagerError('ERR_NOT_STARTED', 'flush() was called before start()');
    return this.#sync.flush(podUID === undefined ? this.#cache.podUIDs() : [this.#translate(podUID)], timeoutMs);
  }

  /**
   * Flushes for at most `drainTimeoutMs` (default 10 000), then aborts. Resolves when nothing is in flight and no timer is
   * left, at the latest a second after the drain, to what could not be written and to the requests that the pod client has
   * not ended. On a clock that stands still, as a test's does that nobody moves, the drain ends after about a second of the
   * machine's time. Every call after the first returns the first one's promise. The pod client stays open: it is its owner's.
   * Rejects with ERR_INVALID_OPTION, and stops nothing, for an option that is wrong.
   */
  stop(options: { drainTimeoutMs?: number } = {}): Promise<StopResult> {
    try {
      requireKnownOptions('options', options, ['drainTimeoutMs']);
      const drainTimeoutMs = numberOption('drainTimeoutMs', options.drainTimeoutMs ?? 10_000, 0, longestTimerMs);
      const wasRunning = this.state === 'running';
      return this.#runState.stop(() => this.#stop(wasRunning, drainTimeoutMs));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The same as `stop()` with its defaults, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  on<Name extends keyof StatusManagerEvents>(event: Name, listener: (...args: StatusManagerEvents[Name]) => void): this {
    this.#events.on(event, listener);
    return this;
  }

  once<Name extends keyof StatusManagerEvents>(event: Name, listener: (...args: StatusManagerEvents[Name]) => void): this {
    this.#events.once(event, listener);
    return this;
  }

  off<Name extends keyof StatusManagerEvents>(event: Name, listener: (...args: StatusManagerEvents[Name]) => void): this {
    this.#events.off(event, listener);
    return this;
  }

  addListener<Name extends keyof StatusManagerEvents>(event: Name, listener: (...args: StatusManagerEvents[Name]) => void): this {
    return this.on(event, listener);
  }

  removeListener<Name extends keyof StatusManagerEvents>(
    event: Name,
    listener: (...args: StatusManagerEvents[Name]) => void,
  ): this {
    return this.off(event, listener);
  }

  listenerCount(event: keyof StatusManagerEvents): number {
    return this.#events.listenerCount(event);
  }

  setMaxListeners(most: number): this {
    this.#events.setMaxListeners(most);
    return this;
  }

  async #stop(wasRunning: boolean, drainTimeoutMs: number): Promise<StopResult> {
    if (this.#sync === undefined) return { pods: [], underWay: [] };
    if (!wasRunning) return this.#sync.stopIdle();
    // what has not settled after the drain is in the result
    if (drainTimeoutMs > 0) {
      const drained = this.#sync.flush(this.#cache.podUIDs(), drainTimeoutMs);
      await settlesUnlessStill(drained, this.#options.clock);
    }
    const result = await this.#sync.stop();
    if (result.pods.length > 0 || result.underWay.length > 0) {
      this.#options.logger.warn({ ...result }, 'stopped before every status was written');
    }
    return result;
  }

  #requireProbe(operation: string, podUID: string, containerID: string, result: string, value: boolean): void {
    this.#runState.assertNotStopped(operation);
    requireText('podUID', podUID);
    requireContainerID('containerID', containerID);
    requireBoolean(result, value);
  }

  #probed(
    operation: string,
    podUID: string,
    containerID: string,
    change: (pod: Pod, status: WirePodStatus) => WirePodStatus | undefined,
  ): boolean {
    const { logger } = this.#options;
    const pod = callGuarded(
      () => this.#agent.pod(podUID),
      (err) =>
        logger.error({ err, ...this.#cache.fieldsOf(podUID), operation }, 'the pod manager failed; a probe result is lost'),
    );
    const cached = this.#cache.get(podUID);
    const status = pod && cached && change(pod, cached.status);
    if (pod === undefined || status === undefined) {
      logger.debug({ ...this.#cache.fieldsOf(podUID), containerID, operation }, 'a probe result changed nothing');
      return false;
    }
    return this.#update({ pod, podUID, status, force: false, podIsFinished: false });
  }

  /** What is known of the pods, for answers about them. */
  #knowledge(): SnapshotContext {
    const { pausedUntil, records } = this.#sync ?? {};
    const [phases, problems] = [this.#phases, this.#problems];
    return { podStatuses: this.#cache, agent: this.#agent, records, phases, problems, pausedUntil };
  }

  #update(change: Omit<StatusChange, 'isAcknowledged'>): boolean {
    const { podUID } = change;
    const stored = this.#cache.update({ ...change, isAcknowledged: () => this.#phases.isAcknowledged(podUID) });
    // a listener may have dropped the status by now
    if (stored && this.#sync !== undefined && this.#cache.get(podUID) !== undefined) this.#agent.notePod(podUID);
    return stored;
  }

  /** A mirror pod's uid becomes its static pod's; where the pod manager fails, the uid stays as it is. */
  #translate(uid: string): string {
    return callGuarded(() => this.#agent.translate(uid), ignoreFailure) ?? uid;
  }
}
