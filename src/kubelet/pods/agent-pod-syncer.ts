// Behaviour of SyncPod, SyncTerminatingPod, SyncTerminatingRuntimePod and SyncTerminatedPod in pkg/kubelet/kubelet.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { isTerminalPhase, podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { RunningPod } from '../../api/pod/runtime-pod.ts';
import { LinkedAbort } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import { callGuarded } from '../../base/guard.ts';
import { helped } from '../../node/problem-help.ts';
import { earliestBackoffEnd } from '../../node/workers/backoff-error.ts';
import type {
  PodSyncer,
  SyncPodRequest,
  SyncPodResult,
  SyncTerminatedPodRequest,
  SyncTerminatingPodRequest,
} from '../../node/workers/pod-syncer.ts';
import type { AgentPodStatus } from '../pleg/agent-status.ts';
import { ActiveDeadlines } from './active-deadlines.ts';
import { AgentPodStatuses } from './agent-pod-statuses.ts';
import type { AgentPodSyncerOptions } from './agent-pod-syncer-options.ts';
import { awaitClasses } from './class-updates.ts';
import { ContainerKiller, PodKiller } from './container-killer.ts';
import { LifecycleHooks } from './lifecycle-hooks.ts';
import { PodEndings } from './pod-endings.ts';
import { PodPreparation, type PreparedPod } from './pod-preparation.ts';
import { PodStarter, type PodStartOutcome, type PodStartRequest } from './pod-starter.ts';
import { PodTroubles, type TroubleWords } from './pod-troubles.ts';
import { StartFailures } from './start-failures.ts';
import { progressView, StartProgress } from './start-progress.ts';
import { claimWords, cleanUpWords, endWords, preparationWords, preStopWords, syncWords } from './trouble-words.ts';

/** A pod that only the runtime knows is given this long to end, in seconds. */
const unknownPodGraceSeconds = 1;
/** So often one sync looks at the pod again, after each start of a sidecar. */
const mostRounds = 16;

interface SyncRun {
  readonly pod: Pod;
  /** What the runtime had of the pod when the sync began. */
  readonly known: AgentPodStatus;
  readonly progress: StartProgress;
  /** The runs of containers that the sync has ended so that they run again. */
  readonly endedRuns: Set<string>;
}

/**
 * Brings pods to what their specs ask for, by a container runtime: volumes, cgroup and sandbox, images, init containers and sidecars
 * in order, containers, hooks; ends them in the reverse order, and cleans up after them. After each change it asks the runtime and
 * tells the pod's status, so that no status waits for an event or a look at all pods.
 *
 * A call that is aborted waits for what it has begun in the runtime and begins nothing more, so that nothing runs that nobody knows
 * of. What an earlier process has left is adopted: containers that run go on, and what was made but never started is made again.
 */
export class AgentPodSyncer implements PodSyncer {
  readonly #options: AgentPodSyncerOptions;
  readonly #failures = new StartFailures();
  readonly #troubles: PodTroubles;
  readonly #endings: PodEndings;
  readonly #deadlines: ActiveDeadlines;
  readonly #statuses: AgentPodStatuses;
  readonly #containerKiller: ContainerKiller;
  readonly #killer: PodKiller;
  readonly #preparation: PodPreparation;
  readonly #starter: PodStarter;

  constructor(options: AgentPodSyncerOptions) {
    this.#options = options;
    const hooks = new LifecycleHooks(options);
    const troubles = new PodTroubles(options.clock);
    this.#troubles = troubles;
    this.#endings = new PodEndings({ ...options, troubles });
    const requestSync = (pod: Pod): void => {
      callGuarded(
        () => options.requestSync(podUIDOf(pod)),
        (err) => options.logger.error({ err, ...podFields(pod.metadata) }, 'the function that has a pod synced again failed'),
      );
    };
    this.#deadlines = new ActiveDeadlines({ ...options, requestSync });
    this.#statuses = new AgentPodStatuses({ ...options, failures: this.#failures, deadlines: this.#deadlines });
    const hookFailed = (pod: Pod, containerName: string, why: string): void =>
      troubles.failed(pod, `preStop ${containerName}`, preStopWords(containerName, why));
    this.#containerKiller = new ContainerKiller({ ...options, hooks, hookFailed });
    this.#killer = new PodKiller({ runtime: options.runtime, containers: this.#containerKiller });
    this.#preparation = new PodPreparation(options);
    const parts = { hooks, killer: this.#containerKiller, podKiller: this.#killer, failures: this.#failures, troubles };
    this.#starter = new PodStarter({ ...options, ...parts });
  }

  /** What could not be done for pods. Nothing of a pod that is over. */
  get troubles(): Pick<PodTroubles, 'of' | 'pods'> {
    return this.#troubles;
  }

  /** What keeps the pod from being synced, or from ending. */
  problemOf(podUID: string): Pick<TroubleWords, 'kind' | 'help'> {
    return this.#troubles.worst(podUID) ?? helped('sync');
  }

  /** Gives up hooks that are under way. Calls are ended by their signals. */
  stop(): void {
    this.#deadlines.stop();
    this.#endings.stop();
    this.#containerKiller.stop();
  }

  async syncPod(request: SyncPodRequest, signal: AbortSignal): Promise<SyncPodResult> {
    const { clock, logger, lifecycle } = this.#options;
    const { pod } = request;
    const podUID = podUIDOf(pod);
    const endedRuns = new Set<string>();
    const tell = (over: AbortSignal): Promise<void> => {
      const either = new LinkedAbort(over, signal);
      return this.#tellProgress(pod, endedRuns, either.signal).finally(() => either.release());
    };
    const progress = new StartProgress({ tell, pod, clock, logger });
    const endExpecting = lifecycle.expectRead(podUID);
    try {
      return await this.#sync({ pod, known: request.runtimeStatus as AgentPodStatus, progress, endedRuns }, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      this.#statuses.tellNow(podUID);
      throw error;
    } finally {
      endExpecting();
      await progress.end();
      this.#deadlines.watch(pod);
    }
  }

  async #sync({ pod, known, progress, endedRuns }: SyncRun, signal: AbortSignal): Promise<SyncPodResult> {
    const { lifecycle } = this.#options;
    const podUID = podUIDOf(pod);
    let status = known;
    for (let round = 1; ; round += 1) {
      const told = this.#statuses.generate(pod, status);
      if (isTerminalPhase(told.phase)) {
        this.#statuses.tell(pod, told);
        return { isTerminal: true, isStatusKnown: true };
      }
      this.#statuses.tellSoon(pod, told);
      const outcome = await this.#start({ pod, status, told, endedRuns }, signal);
      if (!outcome.changed) {
        this.#troubles.keepOnly(podUID, () => false);
        this.#statuses.tellNow(podUID);
        return { isTerminal: false, isStatusKnown: true };
      }
      status = await lifecycle.refresh(podUID, signal);
      if (outcome.again && outcome.failure === undefined && round < mostRounds) continue;
      await progress.end();
      signal.throwIfAborted();
      const after = this.#statuses.generate(pod, status);
      this.#statuses.tell(pod, after);
      if (outcome.failure !== undefined) throw outcome.failure;
      return { isTerminal: isTerminalPhase(after.phase), isStatusKnown: true };
    }
  }

  async #tellProgress(pod: Pod, endedRuns: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const status = await this.#options.lifecycle.refresh(podUIDOf(pod), signal);
    signal.throwIfAborted();
    const told = this.#statuses.generateProgress(pod, progressView(status, endedRuns));
    // the sync itself tells of the end
    if (!isTerminalPhase(told.phase)) this.#statuses.tell(pod, told);
  }

  async syncTerminatingPod(request: SyncTerminatingPodRequest, signal: AbortSignal): Promise<void> {
    const endExpecting = this.#options.lifecycle.expectRead(podUIDOf(request.pod));
    try {
      await this.#terminate(request, signal);
    } finally {
      endExpecting();
    }
  }

  async #terminate(request: SyncTerminatingPodRequest, signal: AbortSignal): Promise<void> {
    const { pod, gracePeriodSeconds, podStatusFn } = request;
    this.#deadlines.cancel(podUIDOf(pod));
    const { probes, lifecycle, eventRecorder } = this.#options;
    const before = request.runtimeStatus as AgentPodStatus;
    this.#statuses.tell(pod, this.#statuses.generate(pod, before), podStatusFn);
    probes.stopLivenessAndStartup(pod);
    this.#beginEnd(pod, before, gracePeriodSeconds);
    try {
      await this.#end(pod, before, gracePeriodSeconds, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const text = errorText(error);
      eventRecorder.event(pod, 'Warning', 'FailedKillPod', `error killing pod: ${text}`);
      this.#troubles.failed(pod, 'end', endWords(error));
      throw new Error(`error killing terminating pod: ${text}`, { cause: error });
    }
    const stopped = await lifecycle.refresh(podUIDOf(pod), signal);
    const running = stopped.containers.filter(({ state }) => state === 'running');
    if (running.length > 0) {
      const error = new Error(`the runtime says that stopped containers run: ${running.map(({ id }) => id).join()}`);
      this.#troubles.failed(pod, 'end', endWords(error));
      throw error;
    }
    this.#endings.ended(podUIDOf(pod));
    probes.removePod(pod);
    await this.#giveClaimsBack(pod, signal);
    this.#troubles.forget(podUIDOf(pod));
    this.#statuses.tell(pod, this.#statuses.generate(pod, { ...stopped, ips: before.ips }, true), podStatusFn);
  }

  /** Once the status says that the pod is over, others may get what its claims stand for. */
  async #giveClaimsBack(pod: Pod, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.claims?.unprepare(pod, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      this.#troubles.keepOnly(podUIDOf(pod), (part) => part === 'claims');
      this.#troubles.failed(pod, 'claims', claimWords(error));
      throw error;
    }
  }

  async syncTerminatingRuntimePod({ uid, name, namespace }: RunningPod, signal: AbortSignal): Promise<void> {
    const pod: Pod = { metadata: { uid, name, namespace } };
    const status = await this.#options.lifecycle.refresh(uid, signal);
    await this.#end(pod, status, unknownPodGraceSeconds, signal);
    await this.#options.lifecycle.refresh(uid, signal);
    this.#forget(uid);
  }

  async syncTerminatedPod({ pod, runtimeStatus, podStatusFn }: SyncTerminatedPodRequest): Promise<void> {
    const { statusManager, volumes, cgroups, onPodEnded, logger } = this.#options;
    const podUID = podUIDOf(pod);
    const status = runtimeStatus as AgentPodStatus;
    this.#statuses.tell(pod, this.#statuses.generate(pod, status, true), podStatusFn);
    try {
      await Promise.all([volumes.unmountVolumes(podUID), cgroups.removePod(pod)]);
    } catch (error) {
      this.#troubles.failed(pod, 'clean-up', cleanUpWords(error));
      throw error;
    }
    try {
      await onPodEnded(pod);
    } catch (err) {
      logger.error({ err, ...podFields(pod.metadata) }, 'the function that is told of the end of a pod failed');
    }
    statusManager.terminatePod(pod);
    this.#forget(podUID);
  }

  async #start(request: Omit<PodStartRequest, keyof PreparedPod>, signal: AbortSignal): Promise<PodStartOutcome> {
    const { onPodStarting, logger, probes } = this.#options;
    const { pod } = request;
    callGuarded(
      () => onPodStarting(pod),
      (err) => logger.error({ err, ...podFields(pod.metadata) }, 'the function that is told of the start of a pod failed'),
    );
    const words = (error: unknown): TroubleWords => preparationWords(pod, error);
    const prepared = await this.#noting(pod, 'preparation', words, signal, () => this.#preparation.prepare(pod, signal));
    probes.addPod(pod);
    const start = () => this.#starter.start({ ...request, ...prepared }, signal);
    return this.#noting(pod, 'sync', syncWords, signal, start);
  }

  /** What fails is a trouble of the pod until it has succeeded. */
  async #noting<T>(
    pod: Pod,
    part: string,
    words: (error: unknown) => TroubleWords,
    signal: AbortSignal,
    call: () => Promise<T>,
  ): Promise<T> {
    const podUID = podUIDOf(pod);
    try {
      const answer = await call();
      this.#troubles.cleared(podUID, part);
      return answer;
    } catch (error) {
      if (!signal.aborted) this.#troubles.failed(pod, part, words(error), { retryAt: earliestBackoffEnd(error) });
      throw error;
    }
  }

  /** What could not be started matters no more. */
  #beginEnd(pod: Pod, { containers }: AgentPodStatus, gracePeriodSeconds: number | undefined): void {
    this.#troubles.keepOnly(podUIDOf(pod), (part) => part === 'end' || part === 'grace' || part.startsWith('preStop '));
    const running = containers.filter(({ state }) => state === 'running').map(({ name }) => name);
    this.#endings.begin(pod, gracePeriodSeconds, running);
  }

  /** Ends what may run of the pod. */
  async #end(pod: Pod, status: AgentPodStatus, gracePeriodSeconds: number | undefined, signal: AbortSignal): Promise<void> {
    const containers = status.containerDetails.flatMap(({ id, metadata, state }) =>
      state === 'running' || state === 'unknown' ? [{ id, name: metadata.name }] : [],
    );
    const sandboxIDs = status.sandboxDetails.map(({ id }) => id);
    await this.#killer.kill(
      { pod, containers, sandboxIDs, gracePeriodSeconds, podIP: this.#starter.podIPOf(pod, status) },
      signal,
    );
    await awaitClasses(this.#options.cgroups, this.#options.clock, signal);
  }

  #forget(podUID: string): void {
    this.#deadlines.forget(podUID);
    this.#endings.ended(podUID);
    this.#troubles.forget(podUID);
    this.#statuses.forget(podUID);
    this.#failures.forget(podUID);
    this.#preparation.forget(podUID);
    this.#containerKiller.forget(podUID);
  }
}
