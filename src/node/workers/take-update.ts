// Behaviour of UpdatePod in pkg/kubelet/pod_workers.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import type { PodRecord } from './pod-record.ts';
import type { UpdatePodOptions } from './workers-options.ts';

/** What follows from an update. */
export interface TakenUpdate {
  /** True when the lane has something to do. */
  readonly hasWork: boolean;
  /** True when the call under way should end soon. */
  readonly aborts: boolean;
  /** Called now: no container of the pod runs any more, or it is not to end. */
  readonly completed?: (() => void) | undefined;
  /** The same for an update of which nothing is taken. */
  readonly notTaken?: (() => void) | undefined;
}

/** Writes an update into the record of its pod. `isNew`: it is the first update of this pod. */
export function takeUpdate(
  record: PodRecord,
  options: UpdatePodOptions,
  isNew: boolean,
  gracePeriodOf: typeof effectiveGracePeriod,
): TakenUpdate {
  const isOfRuntime = options.pod == null;
  const kill = options.killPodOptions ?? undefined;
  const ignored: TakenUpdate = { hasWork: false, aborts: false, notTaken: kill?.completed ?? undefined };
  if (isOfRuntime) record.isObservedInRuntime = true;
  const pod = options.pod ?? record.pending?.pod ?? record.active?.pod ?? undefined;

  if (!isNew && record.isTerminationRequested && options.updateType === 'create') {
    // a pod of the same uid is to follow: it is created again once this one is over and forgotten
    record.isRestartRequested = true;
    return ignored;
  }
  if (record.isFinished) return ignored;

  const becomesTerminating = !record.isTerminationRequested && endsPod(options);
  if (becomesTerminating) {
    record.isTerminationRequested = true;
    noteCause(record, options);
  }

  let completed: (() => void) | undefined;
  let isGracePeriodShorter = false;
  if (record.isTerminated) {
    if (isOfRuntime) return ignored;
    completed = kill?.completed;
  } else if (record.isTerminationRequested) {
    if (kill?.completed != null) record.completed = [...(record.completed ?? []), kill.completed];
    if (kill?.podStatusFn != null) record.podStatusFn = kill.podStatusFn;
    const gracePeriod = gracePeriodOf(record.gracePeriodSeconds, pod, kill?.gracePeriodSeconds);
    isGracePeriodShorter = record.gracePeriodSeconds !== 0 && record.gracePeriodSeconds !== gracePeriod;
    record.gracePeriodSeconds = gracePeriod;
  } else {
    completed = kill?.completed;
  }

  const isEnding = record.isTerminationRequested && !record.isTerminated;
  record.pending = {
    updateType: options.updateType,
    pod,
    mirrorPod: options.mirrorPod ?? undefined,
    runningPod: pod === undefined ? options.runningPod : undefined,
    gracePeriodSeconds: isEnding ? record.gracePeriodSeconds : undefined,
    startTime: earlier(record.pending?.startTime, options.startTime ?? undefined),
  };
  return { hasWork: true, aborts: becomesTerminating || isGracePeriodShorter, completed };
}

/** True for an update after which the pod is to end. */
function endsPod(options: UpdatePodOptions): boolean {
  return isOfDeleted(options) || isTerminalPhase(options.pod?.status?.phase) || options.updateType === 'kill';
}

/** Writes why the pod is to end. A deletion goes before a phase that is terminal, and such a phase before a kill. */
function noteCause(record: PodRecord, options: UpdatePodOptions): void {
  if (isOfDeleted(options)) {
    record.isDeleted = true;
    return;
  }
  if (isTerminalPhase(options.pod?.status?.phase) || options.updateType !== 'kill') return;
  if (options.killPodOptions?.evict === true) record.isEvicted = true;
}

/** True for a pod that was deleted, and for one that only the runtime knows. */
function isOfDeleted({ pod }: UpdatePodOptions): boolean {
  return pod == null || pod.metadata?.deletionTimestamp != null;
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (b ?? a) : Math.min(a, b);
}

// Behaviour of calculateEffectiveGracePeriod in pkg/kubelet/pod_workers.go, v1.36.3.

/**
 * The grace period of a pod that ends, in seconds, at least 1: the shortest that anyone has asked for so far (`current`, 0
 * where nobody has), else the pod's own. A deletion without any grace is the exception: what is asked for beside it counts.
 */
export function effectiveGracePeriod(current: number, pod: Pod | undefined, asked: number | undefined): number {
  let gracePeriod = current;
  let isAsked = false;
  for (const seconds of [pod?.metadata?.deletionGracePeriodSeconds, asked]) {
    if (seconds != null && (gracePeriod === 0 || seconds < gracePeriod)) {
      gracePeriod = seconds;
      isAsked = true;
    }
  }
  if (!isAsked && gracePeriod === 0) gracePeriod = pod?.spec?.terminationGracePeriodSeconds ?? 0;
  return gracePeriod >= 1 ? gracePeriod : 1;
}

/** The same, and never longer than `current`, also where the pod is deleted without any grace. */
export function shrinkingGracePeriod(current: number, pod: Pod | undefined, asked: number | undefined): number {
  const gracePeriod = effectiveGracePeriod(current, pod, asked);
  return current > 0 ? Math.min(current, gracePeriod) : gracePeriod;
}
