// Behaviour of podSyncStatus in pkg/kubelet/pod_workers.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import type { RunningPod } from '../../api/pod/runtime-pod.ts';
import type { PodStatusFn } from './pod-syncer.ts';
import type { UpdateType } from './workers-options.ts';

/** What a worker does for a pod at one time. */
export type PodWorkerState = 'sync' | 'terminating' | 'terminated';

/** An update that waits for its call. */
export interface PendingUpdate {
  readonly updateType: UpdateType;
  readonly pod: Pod | undefined;
  readonly mirrorPod: Pod | undefined;
  /** Given only where `pod` is not. */
  readonly runningPod: RunningPod | undefined;
  /** Of a pod that ends: undefined where nobody has asked for a grace period. */
  readonly gracePeriodSeconds: number | undefined;
  /** When the agent learned of the change, by `clock.elapsed()`. */
  readonly startTime: number | undefined;
}

/** What the calls so far have been made with: the source of a call that nobody has asked for. */
export type ActiveUpdate = Pick<PendingUpdate, 'pod' | 'runningPod' | 'gracePeriodSeconds'>;

/** Why a call of the syncer failed. */
export interface WorkerFailure {
  /** What the call was rejected with, in words. */
  readonly message: string;
  /** How many calls in a row have failed. */
  readonly attempt: number;
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** When the first of the failures in a row was, in milliseconds since the epoch. */
  readonly since: number;
  /** When the call is made again at the soonest, in milliseconds since the epoch. */
  readonly retryAt: number;
}

/** What the workers know of one pod. Only {@link PodRecords} and its rules write to it. */
export class PodRecord {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** The newest update that no call has been made with. A newer one takes its place. */
  pending: PendingUpdate | undefined;
  /** Undefined until the pod has started. */
  active: ActiveUpdate | undefined;
  /** True from the moment that a lane has work until it has none. */
  isWorking = false;
  /** True once the pod was allowed to start, or to be ended though it never started here. */
  isStarted = false;
  isTerminationRequested = false;
  /** True once no call of syncPod follows any more. */
  isTerminationStarted = false;
  /** True once no container of the pod runs. */
  isTerminated = false;
  /** True once nothing is left to do. */
  isFinished = false;
  /** True once the pod's deletion was asked for, or its configuration is gone. */
  isDeleted = false;
  isEvicted = false;
  /** True when a pod of the same uid was created while this one ended. */
  isRestartRequested = false;
  /** True once the runtime was seen to run the pod, so that it must be ended even if it never started here. */
  isObservedInRuntime = false;
  /** The grace period of the end, in seconds; 0 before one is known. */
  gracePeriodSeconds = 0;
  /** When the last call has ended, in milliseconds since the epoch; 0 before the first. */
  lastSyncAt = 0;
  /** True: the last call has left the pod in the runtime as the cache of statuses knows it. */
  isStatusKnown = false;
  /** Why the last call failed; undefined where it did not. */
  failure: WorkerFailure | undefined;
  /** The log has told of the failures in a row. */
  isFailureTold = false;
  podStatusFn: PodStatusFn | undefined;
  /** To be called once the pod is terminated. */
  completed: (() => void)[] | undefined;

  constructor(uid: string, name: string, namespace: string) {
    this.uid = uid;
    this.name = name;
    this.namespace = namespace;
  }

  get state(): PodWorkerState {
    if (this.isTerminated) return 'terminated';
    return this.isTerminationRequested ? 'terminating' : 'sync';
  }
}
