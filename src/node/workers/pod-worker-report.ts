import type { PodRecord, PodWorkerState, WorkerFailure } from './pod-record.ts';
import type { Work } from './pod-records.ts';
import type { PodSyncer, SyncPodType } from './pod-syncer.ts';

/** What the workers know of one pod. It can be turned into JSON. */
export interface PodWorkerReport {
  /** What the worker does for the pod. */
  readonly state: PodWorkerState;
  /** The method of the syncer that is being called, or is about to be; undefined: none. */
  readonly call: keyof PodSyncer | undefined;
  /** When that call began, in milliseconds since the epoch. */
  readonly callSince: number | undefined;
  /** The update that waits for the end of the call, or for the end of another static pod of the same full name. */
  readonly waiting: SyncPodType | 'kill' | undefined;
  /** False before the first call: a static pod waits for the end of every earlier one of its full name. */
  readonly isStarted: boolean;
  /** True once nothing is left to do. */
  readonly isFinished: boolean;
  /** True once the pod's deletion was asked for, or its configuration is gone. */
  readonly isDeleted: boolean;
  /** True once the pod was killed with `evict`. */
  readonly isEvicted: boolean;
  /** How long the pod has to end, in seconds; undefined while it is not to end. */
  readonly gracePeriodSeconds: number | undefined;
  /** When the last call has ended, in milliseconds since the epoch; undefined before the first. */
  readonly lastSyncAt: number | undefined;
  /** Why the last call failed; undefined where it did not. */
  readonly failure: WorkerFailure | undefined;
}

/** How many pods the workers know, and what is done for them. */
export interface PodWorkersReport {
  /** How many pods are known. */
  readonly pods: number;
  /** The pods by state. */
  readonly sync: number;
  /** Pods whose containers are being stopped. */
  readonly terminating: number;
  /** Pods that run no more. */
  readonly terminated: number;
  /** How many calls of the syncer are under way. */
  readonly calls: number;
  /** How many pods whose last call failed. */
  readonly failing: number;
}

/** A pod whose last call failed. */
export interface FailingPod extends Pick<PodWorkerReport, 'state' | 'failure'> {
  /** The pod's uid. */
  readonly uid: string;
  /** The pod's name. */
  readonly name: string;
  /** The pod's namespace. */
  readonly namespace: string;
}

/** Undefined for a pod whose last call did not fail. */
export function failingPod({ uid, name, namespace, state, failure }: PodRecord): FailingPod | undefined {
  return failure && { uid, name, namespace, state, failure };
}

/** The call of the syncer that is under way. */
export interface CallUnderWay {
  readonly work: Work;
  /** In milliseconds since the epoch. */
  readonly since: number;
}

export function workerReport(record: PodRecord, call: CallUnderWay | undefined): PodWorkerReport {
  const { state, pending, isStarted, isFinished, isDeleted, isEvicted, lastSyncAt, failure } = record;
  return {
    state,
    call: call && methodOf(call.work),
    callSince: call?.since,
    waiting: pending?.updateType,
    isStarted,
    isFinished,
    isDeleted,
    isEvicted,
    gracePeriodSeconds: record.isTerminationRequested ? record.gracePeriodSeconds : undefined,
    lastSyncAt: lastSyncAt === 0 ? undefined : lastSyncAt,
    failure,
  };
}

export function workersReport(records: Iterable<PodRecord>, calls: number): PodWorkersReport {
  const counts = { pods: 0, sync: 0, terminating: 0, terminated: 0, calls, failing: 0 };
  for (const { state, failure } of records) {
    counts.pods += 1;
    counts[state] += 1;
    if (failure !== undefined) counts.failing += 1;
  }
  return counts;
}

function methodOf({ state, update }: Work): keyof PodSyncer {
  if (update.pod === undefined) return 'syncTerminatingRuntimePod';
  if (state === 'sync') return 'syncPod';
  return state === 'terminating' ? 'syncTerminatingPod' : 'syncTerminatedPod';
}
