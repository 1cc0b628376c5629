import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import type { RunningPod, RuntimePodStatus } from '../../api/pod/runtime-pod.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { callGuarded, ignoreFailure, isThenable } from '../../base/guard.ts';
import type { Problem } from '../../base/problem.ts';

/** Why a pod is synced. `sync`: again, without a change of the pod. */
export type SyncPodType = 'create' | 'update' | 'sync';

/** A pod that is to be brought to what its spec asks for. */
export interface SyncPodRequest {
  /** Why the pod is synced. */
  readonly updateType: SyncPodType;
  /** The newest version of the pod. It must not be changed. */
  readonly pod: Pod;
  /** The mirror pod of a static pod, if there is one. */
  readonly mirrorPod: Pod | undefined;
  /** What the runtime has of the pod, read after the last call for this pod had ended. */
  readonly runtimeStatus: RuntimePodStatus;
}

/** A pod whose containers are to be stopped. */
export interface SyncTerminatingPodRequest {
  /** The newest version of the pod. It must not be changed. */
  readonly pod: Pod;
  /** What the runtime has of the pod, read after the last call for this pod had ended. */
  readonly runtimeStatus: RuntimePodStatus;
  /** How long containers may take to end, in seconds, at least 1; undefined where nobody has said: the pod's own. */
  readonly gracePeriodSeconds: number | undefined;
  /**
   * Changes the pod's status before it is stored. Call it right before: what is asked for while the call is under way counts too,
   * such as the reason of an eviction. It changes nothing where nobody has asked for a change, and never throws. Undefined only
   * with `exactlyAsKubelet`, where nobody had asked when the call began.
   */
  readonly podStatusFn: PodStatusFn | undefined;
}

/** A pod that runs no more, to be cleaned up after. */
export interface SyncTerminatedPodRequest {
  /** The newest version of the pod. It must not be changed. */
  readonly pod: Pod;
  /** What the runtime has of the pod, read after the last call for this pod had ended. */
  readonly runtimeStatus: RuntimePodStatus;
  /**
   * As in {@link SyncTerminatingPodRequest}: an eviction holds for the last status, too. What is asked for after the pod has ended
   * changes nothing. Undefined with `exactlyAsKubelet`.
   */
  readonly podStatusFn: PodStatusFn | undefined;
}

/** Changes the status in place. */
export type PodStatusFn = (status: WirePodStatus) => void;

/** How a sync has gone. */
export interface SyncPodResult {
  /** True when the pod has come to its end by itself: no container runs, and none will be started again. */
  readonly isTerminal: boolean;
  /**
   * True: the call has changed nothing of the pod in the runtime, or what the `runtimeStatusCache` knows was read after all that it
   * has changed. The next call then also takes what was read, or seen unchanged, less than a second before it, and not only what is
   * newer than this call.
   */
  readonly isStatusKnown?: boolean;
}

/**
 * What is done for a pod. The workers call one method at a time for one pod. A call that rejects is repeated later: with a
 * `BackoffError` at the time that it names, with an error whose message contains `networkNotReadyMessage` ("network is not
 * ready") after about 1 s, else after `backOffPeriodMs`. `signal` aborts when the call should end soon, because something more
 * urgent waits: the call then rejects with the signal's reason. A start that a call has asked for and does not wait for must come
 * to nothing once the pod's containers were stopped, as the runtime refuses one in a sandbox that has ended.
 */
export interface PodSyncer {
  /** Brings the pod's containers to what its spec asks for; undefined counts as not terminal. */
  syncPod(request: SyncPodRequest, signal: AbortSignal): Promise<SyncPodResult | undefined>;
  /** Stops the pod's containers. When it resolves, none runs. */
  syncTerminatingPod(request: SyncTerminatingPodRequest, signal: AbortSignal): Promise<void>;
  /** Stops what runs of a pod that the agent has no object of. When it resolves, nothing of it runs. */
  syncTerminatingRuntimePod(runningPod: RunningPod, signal: AbortSignal): Promise<void>;
  /** Cleans up after a pod that runs no more, and tells its final status. */
  syncTerminatedPod(request: SyncTerminatedPodRequest, signal: AbortSignal): Promise<void>;
  /**
   * If there: what the last call of the pod that was rejected has failed with, as a word for it and what would help, for the log. What
   * it throws counts as nothing known.
   */
  problemOf?(podUID: string): Pick<Problem, 'kind' | 'help'> | undefined;
}

/** What the workers ask of the runtime before each call. */
export interface RuntimeStatusCache {
  /** What is known now; what it throws counts as "not known". */
  get(podUID: string): RuntimePodStatus;
  /** Resolves once what is known is newer than `time` (milliseconds since the epoch), which is never ahead of the workers' clock. */
  getNewerThan(podUID: string, time: number, signal: AbortSignal): Promise<RuntimePodStatus>;
}

/** What the cache knows now; undefined for what it does not know, and for anything that is no status. */
export function knownRuntimeStatus(cache: RuntimeStatusCache, podUID: string): RuntimePodStatus | undefined {
  const status: unknown = callGuarded(() => cache.get(podUID), ignoreFailure);
  return isRuntimePodStatus(status) ? status : undefined;
}

/**
 * What the cache knows that is newer than `time`. Rejects as the cache does, with an error for anything that is no status, and
 * once `signal` aborts, with its reason, whatever the cache does.
 */
export async function newerRuntimeStatus(
  cache: RuntimeStatusCache,
  podUID: string,
  time: number,
  signal: AbortSignal,
): Promise<RuntimePodStatus> {
  const answer: unknown = cache.getNewerThan(podUID, time, signal);
  const status: unknown = isThenable(answer) ? await untilAborted(answer, signal) : answer;
  if (isRuntimePodStatus(status)) return status;
  throw new StatusManagerError('ERR_INVALID_ARGUMENT', 'the runtime status cache answered with no status');
}

function isRuntimePodStatus(value: unknown): value is RuntimePodStatus {
  if (typeof value !== 'object' || value === null) return false;
  const { containers, sandboxes } = value as Partial<RuntimePodStatus>;
  return Array.isArray(containers) && Array.isArray(sandboxes);
}
