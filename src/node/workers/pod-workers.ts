import type { Pod } from '../../api/json/types.ts';
import { podFullName, requirePod } from '../../api/pod/pod-identity.ts';
import type { Clock } from '../../base/clock.ts';
import { settlesWithin } from '../../base/concurrency/aborts.ts';
import { LateSet } from '../../base/concurrency/late-collections.ts';
import { RunState, type RunStateName } from '../../base/concurrency/run-state.ts';
import { invalidArgument, StatusManagerError } from '../../base/errors.ts';
import { beginAtZero, sampleGauges } from '../../base/metrics/metrics.ts';
import { longestTimerMs, numberOption, requireKnownOptions, requireText } from '../../base/options.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { PodDeletionSafety } from '../../status/pods/pod-deletion-safety.ts';
import { PodLanes } from './pod-lanes.ts';
import type { PodRecord, PodWorkerState } from './pod-record.ts';
import { type KnownPod, PodRecords } from './pod-records.ts';
import { knownRuntimeStatus } from './pod-syncer.ts';
import {
  type FailingPod,
  failingPod,
  type PodWorkerReport,
  type PodWorkersReport,
  workerReport,
  workersReport,
} from './pod-worker-report.ts';
import { type RetryQueue, WorkQueue } from './work-queue.ts';
import {
  type KillNowOptions,
  type PodWorkersOptions,
  type ResolvedWorkersOptions,
  requireKillNowOptions,
  requireUpdate,
  resolveWorkersOptions,
  type UpdatePodOptions,
} from './workers-options.ts';

/** How long a stop may take. */
export interface StopWorkersOptions {
  /** How long to wait for calls that do not heed their signal, in milliseconds. Default 5000. */
  readonly timeoutMs?: number;
}

/** What a stop has left behind. */
export interface StoppedWorkers {
  /** The uids of the pods whose call had not settled when `stop` gave up waiting. */
  readonly unsettled: readonly string[];
}

/**
 * What is done for each pod, one call at a time: synced until it is to end, then terminated, then cleaned up. Of the updates
 * that wait for a call the newest counts; that a pod is to end is never forgotten, and its grace period only shrinks. Behaviour
 * of pkg/kubelet/pod_workers.go, v1.36.3.
 *
 * The workers repeat nothing by themselves: what is to be synced again goes into the work queue, and the agent's loop hands it
 * to `updatePod`. They hold no timer, but while somebody waits for `killPodNow`, and for a sink of `metrics` that cannot say
 * when it is read. `Queue` is the type of the work queue: of the one
 * that is given, else {@link WorkQueue}.
 *
 * @example
 * ```ts
 * import { PodWorkers } from 'pod-status-manager/node';
 * import { buildPod } from 'pod-status-manager/testing';
 *
 * const pod = buildPod();
 * const { promise: synced, resolve } = Promise.withResolvers<void>();
 * const nothing = { podUID: 'uid-of-pod-1', ips: [], containers: [], sandboxes: [] };
 * const workers = new PodWorkers({
 *   podSyncer: {
 *     // brings the containers to what the spec asks for
 *     syncPod: async () => {
 *       resolve();
 *       return { isTerminal: false };
 *     },
 *     syncTerminatingPod: async () => {}, // stops them
 *     syncTerminatingRuntimePod: async () => {},
 *     syncTerminatedPod: async () => {}, // cleans up
 *   },
 *   runtimeStatusCache: { get: () => nothing, getNewerThan: async () => nothing },
 * });
 * workers.updatePod({ updateType: 'create', pod });
 * await synced;
 * await workers.killPodNow(pod, { gracePeriodSeconds: 1 });
 * console.log(workers.isPodKnownTerminated('uid-of-pod-1')); // true
 * await workers.stop();
 * ```
 */
export class PodWorkers<Queue extends RetryQueue = WorkQueue> implements PodDeletionSafety {
  readonly #options: ResolvedWorkersOptions;
  readonly #records: PodRecords;
  readonly #lanes: PodLanes;
  readonly #kills: WaitingKills;
  readonly #endMeasuring: () => void;
  readonly #runState = new RunState<StoppedWorkers>('pod workers');

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: PodWorkersOptions<Queue>) {
    this.#options = resolveWorkersOptions(options);
    const { runtimeStatusCache } = this.#options;
    this.#records = new PodRecords(this.#options, (podUID) => knownRuntimeStatus(runtimeStatusCache, podUID));
    this.#lanes = new PodLanes(this.#options, this.#records);
    this.#kills = new WaitingKills(this.#options);
    this.#endMeasuring = measureWorkers(this.#options, (state) => this.#lanes.countCalls(state));
    this.#runState.start();
  }

  /** `running` until `stop` is called. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /** Where the pods wait that are to be synced again: the queue that was given, else one for the agent's loop to read. */
  get workQueue(): Queue {
    return this.#options.workQueue as Queue;
  }

  /**
   * Tells the workers of a pod. It never waits: calls of the syncer begin in a later microtask. A pod ends when it is deleted,
   * is in a terminal phase, or is killed; then every update counts as a kill. Of a pod that is over nothing is done any more,
   * until `syncKnownPods` has forgotten it. Throws ERR_INVALID_ARGUMENT, and ERR_STOPPED after `stop`.
   */
  updatePod(options: UpdatePodOptions): void {
    this.#runState.assertNotStopped('updatePod');
    const podUID = requireUpdate(options);
    const [record, taken] = this.#records.update(podUID, this.#withSteadyStart(options));
    if (taken.hasWork) this.#lanes.wake(record);
    if (taken.aborts) this.#lanes.abort(record);
    if (taken.completed != null) this.#lanes.complete(podUID, [taken.completed]);
    if (taken.notTaken != null) this.#lanes.completeOver(podUID, [taken.notTaken]);
  }

  /**
   * Kills the pod, and resolves once none of its containers runs. Rejects with ERR_KILL_TIMEOUT after one and a half times the
   * grace period, at least 10 s: the pod goes on ending. Rejects with ERR_INVALID_ARGUMENT, and with ERR_STOPPED when the workers
   * are stopped.
   */
  async killPodNow(pod: Pod, options: KillNowOptions = {}): Promise<void> {
    requirePod(pod);
    requireKillNowOptions(options);
    await this.#kills.kill(pod, options, (update) => this.updatePod(update));
  }

  /**
   * Compares with all pods that the agent is to run. Pods that are over and not desired are forgotten, the others that are not
   * desired begin to end. From the first call on, a pod that the workers do not know counts as gone; so every pod must have been
   * handed to `updatePod` before. Returns what is known, by uid: a desired pod that is not in it must be created again. Throws
   * ERR_INVALID_ARGUMENT for what is no list of pods with uids, and ERR_STOPPED after `stop`.
   */
  syncKnownPods(desired: readonly Pod[]): ReadonlyMap<string, KnownPod> {
    this.#runState.assertNotStopped('syncKnownPods');
    if (!Array.isArray(desired)) throw invalidArgument('desired', 'a list of pods', desired);
    const uids = new Set<string>();
    for (const pod of desired as readonly Pod[]) uids.add(uidOf(pod));
    const dropped: (readonly [string, readonly (() => void)[]])[] = [];
    const known = this.#records.syncKnown(
      uids,
      (record) => this.#lanes.wake(record),
      (record, completed) => dropped.push([record.uid, completed]),
    );
    for (const [podUID, completed] of dropped) this.#lanes.completeOver(podUID, completed);
    return known;
  }

  /** Grows when a pod comes, is forgotten, goes on to another state or is to be created again. A sync alone changes nothing. */
  get changes(): number {
    return this.#records.changes;
  }

  /** True once no container of the pod runs. False for a pod that is not known. */
  isPodKnownTerminated(podUID: string): boolean {
    return answer(this.#records, 'isPodKnownTerminated', podUID);
  }

  /** False once no container of the pod runs, or, after `syncKnownPods`, for a pod that is not known. */
  couldHaveRunningContainers(podUID: string): boolean {
    return answer(this.#records, 'couldHaveRunningContainers', podUID);
  }

  /** True once syncTerminatedPod has succeeded, or, after `syncKnownPods`, for a pod that is not known. */
  shouldPodBeFinished(podUID: string): boolean {
    return answer(this.#records, 'shouldPodBeFinished', podUID);
  }

  /** True once the pod is to end, also while containers are still being started. False for a pod that is not known. */
  isPodTerminationRequested(podUID: string): boolean {
    return answer(this.#records, 'isPodTerminationRequested', podUID);
  }

  /** True once no container of the pod is started any more, or, after `syncKnownPods`, for a pod that is not known. */
  shouldPodContainersBeTerminating(podUID: string): boolean {
    return answer(this.#records, 'shouldPodContainersBeTerminating', podUID);
  }

  /** True once what the pod's containers have used may go, or, after `syncKnownPods`, for a pod that is not known. */
  shouldPodRuntimeBeRemoved(podUID: string): boolean {
    return answer(this.#records, 'shouldPodRuntimeBeRemoved', podUID);
  }

  /** True for a pod that is evicted, or deleted and ended, or, after `syncKnownPods`, not known: all of its content may go. */
  shouldPodContentBeRemoved(podUID: string): boolean {
    return answer(this.#records, 'shouldPodContentBeRemoved', podUID);
  }

  /** True while the static pod of that full name (`name_namespace`) ends: its mirror pod must stay meanwhile. */
  isPodForMirrorPodTerminatingByFullName(podFullName: string): boolean {
    requireText('podFullName', podFullName);
    const record = this.#records.startedStaticPod(podFullName);
    return record?.state === 'terminating';
  }

  /** What is done for the pod, and what could not be done; undefined for a pod that is not known. Works in every state. */
  explain(podUID: string): PodWorkerReport | undefined {
    requireText('podUID', podUID);
    const record = this.#records.get(podUID);
    return record && workerReport(record, this.#lanes.callOf(record));
  }

  /** How many pods there are, and what is done for them. Works in every state. */
  snapshot(): PodWorkersReport {
    return workersReport(this.#records.all(), this.#lanes.callsUnderWay().length);
  }

  /** The pods whose last call failed. Works in every state. */
  failing(): FailingPod[] {
    return Array.from(this.#records.all(), failingPod).filter((pod) => pod !== undefined);
  }

  podCouldHaveRunningContainers(pod: Pod): boolean {
    return this.couldHaveRunningContainers(uidOf(pod));
  }

  podResourcesAreReclaimed(pod: Pod): boolean {
    return this.shouldPodBeFinished(uidOf(pod));
  }

  /**
   * Asks the calls under way to end, and waits for them, up to a time. Then nothing more is called, neither the syncer nor a
   * `completed`, and no timer is left. A work queue that was given is left as it is, the workers' own is closed. Every call after the first returns the first one's promise.
   */
  stop(options: StopWorkersOptions = {}): Promise<StoppedWorkers> {
    requireKnownOptions('options', options, ['timeoutMs']);
    const timeoutMs = numberOption('timeoutMs', options.timeoutMs ?? 5000, 0, longestTimerMs);
    return this.#runState.stop(() => this.#stop(timeoutMs));
  }

  /** The same as `stop()` with its defaults, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** The wall clock may be set between the start of an update and the end of its call: the time is kept as one that only grows. */
  #withSteadyStart(options: UpdatePodOptions): UpdatePodOptions {
    const { startTime } = options;
    if (startTime == null) return options;
    const { clock } = this.#options;
    return { ...options, startTime: clock.elapsed() - Math.max(0, clock.now() - startTime) };
  }

  async #stop(timeoutMs: number): Promise<StoppedWorkers> {
    const { clock, logger, ownQueue } = this.#options;
    this.#kills.stop();
    ownQueue?.close();
    await settlesWithin(this.#lanes.stop(), { clock, timeoutMs });
    const unsettled = this.#lanes.callsUnderWay();
    this.#endMeasuring();
    if (unsettled.length > 0) logger.warn({ podUIDs: unsettled }, 'stopped before every call of the pod syncer had settled');
    return { unsettled };
  }
}

function uidOf(pod: Pod): string {
  const uid = pod?.metadata?.uid;
  requireText('pod.metadata.uid', uid);
  return uid;
}

// Behaviour of killPodNow in pkg/kubelet/pod_workers.go, v1.36.3.

/** The shortest time that a pod gets to end, in seconds. */
const shortestWaitSeconds = 10;

class WaitingKills {
  readonly #clock: Clock;
  readonly #eventRecorder: EventRecorder;
  readonly #giveUps = new LateSet<() => void>();

  constructor({ clock, eventRecorder }: { readonly clock: Clock; readonly eventRecorder: EventRecorder }) {
    this.#clock = clock;
    this.#eventRecorder = eventRecorder;
  }

  /** Hands the kill to `updatePod`, which may throw. Resolves when no container runs; rejects with ERR_KILL_TIMEOUT or ERR_STOPPED. */
  async kill(pod: Pod, options: KillNowOptions, updatePod: (options: UpdatePodOptions) => void): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    updatePod({ updateType: 'kill', pod, killPodOptions: { ...options, completed: resolve } });
    const gracePeriod = options.gracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 0;
    const waitSeconds = Math.max(shortestWaitSeconds, gracePeriod + Math.floor(gracePeriod / 2));
    const fullName = podFullName(pod);
    const cancelTimer = this.#clock.setTimer(
      () => {
        const message = 'Container runtime did not kill the pod within specified grace period.';
        this.#eventRecorder.event(pod, 'Warning', 'ExceededGracePeriod', message);
        reject(new StatusManagerError('ERR_KILL_TIMEOUT', `The containers of pod ${fullName} still ran after ${waitSeconds} s`));
      },
      Math.min(waitSeconds * 1000, longestTimerMs),
      { keepAlive: true },
    );
    const giveUp = (): void => {
      reject(new StatusManagerError('ERR_STOPPED', `The pod workers were stopped before pod ${fullName} had ended`));
    };
    this.#giveUps.add(giveUp);
    try {
      await promise;
    } finally {
      cancelTimer();
      this.#giveUps.delete(giveUp);
    }
  }

  stop(): void {
    for (const giveUp of this.#giveUps) giveUp();
  }
}

// Behaviour of the questions of PodWorkers in pkg/kubelet/pod_workers.go, v1.36.3.

/** The questions about one pod, by the pod's record; of a pod without one, the answer depends on `syncKnownPods` alone. */
const podQuestions = {
  isPodKnownTerminated: { ofRecord: ({ isTerminated }: PodRecord) => isTerminated, ofUnknown: () => false },
  couldHaveRunningContainers: {
    ofRecord: ({ isTerminated }: PodRecord) => !isTerminated,
    ofUnknown: (isSynced: boolean) => !isSynced,
  },
  shouldPodBeFinished: { ofRecord: ({ isFinished }: PodRecord) => isFinished, ofUnknown: (isSynced: boolean) => isSynced },
  isPodTerminationRequested: {
    ofRecord: ({ isTerminationRequested }: PodRecord) => isTerminationRequested,
    ofUnknown: () => false,
  },
  shouldPodContainersBeTerminating: {
    ofRecord: ({ isTerminationStarted }: PodRecord) => isTerminationStarted,
    ofUnknown: (isSynced: boolean) => isSynced,
  },
  shouldPodRuntimeBeRemoved: {
    ofRecord: ({ isTerminated }: PodRecord) => isTerminated,
    ofUnknown: (isSynced: boolean) => isSynced,
  },
  shouldPodContentBeRemoved: {
    ofRecord: ({ isEvicted, isDeleted, isTerminated }: PodRecord) => isEvicted || (isDeleted && isTerminated),
    ofUnknown: (isSynced: boolean) => isSynced,
  },
} as const;

/** Answers one of {@link podQuestions}. */
function answer(records: PodRecords, question: keyof typeof podQuestions, podUID: string): boolean {
  const { ofRecord, ofUnknown } = podQuestions[question];
  const record = records.get(podUID);
  return record === undefined ? ofUnknown(records.isSynced) : ofRecord(record);
}

const states: readonly PodWorkerState[] = ['sync', 'terminating', 'terminated'];

/**
 * Measures how many calls of the syncer are under way, and how far the work queue lags; that of a work queue of another kind is
 * not known. Returns a function that ends it.
 */
function measureWorkers(
  { metrics, clock, workQueue }: ResolvedWorkersOptions,
  countCalls: (state: PodWorkerState) => number,
): () => void {
  beginAtZero(metrics, ['pod_status_manager_worker_retries_total']);
  return sampleGauges(metrics, clock, () => {
    for (const state of states) metrics.set('pod_status_manager_worker_calls_in_flight', countCalls(state), { state });
    if (!(workQueue instanceof WorkQueue)) return;
    metrics.set('pod_status_manager_worker_queue_depth', workQueue.size);
    metrics.set('pod_status_manager_worker_queue_lateness_seconds', workQueue.latenessMs / 1000);
  });
}
