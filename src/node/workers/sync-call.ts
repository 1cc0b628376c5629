import type { RuntimePodStatus } from '../../api/pod/runtime-pod.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { isThenable } from '../../base/guard.ts';
import type { PodRecord } from './pod-record.ts';
import type { Work } from './pod-records.ts';
import type { PodStatusFn, PodSyncer, SyncPodType } from './pod-syncer.ts';

/** How a call has ended. */
export type Outcome =
  | { readonly failed: false; readonly isTerminal: boolean }
  | { readonly failed: true; readonly error: unknown };

/**
 * Calls the method of the syncer that the work is for. Resolves once the call has settled, to a failure for whatever the syncer
 * throws or rejects with, and for an answer that is no promise. `runtimeStatus` is undefined only for a pod that the agent has
 * no object of.
 */
export async function callSyncer(
  syncer: PodSyncer,
  { state, update }: Work,
  record: PodRecord,
  runtimeStatus: RuntimePodStatus | undefined,
  signal: AbortSignal,
  podStatusFn: PodStatusFn | undefined,
): Promise<Outcome> {
  try {
    const { pod, mirrorPod, runningPod, gracePeriodSeconds } = update;
    let answer: unknown;
    if (pod === undefined || runtimeStatus === undefined) {
      const { uid, name, namespace } = record;
      answer = syncer.syncTerminatingRuntimePod(runningPod ?? { uid, name, namespace }, signal);
    } else if (state === 'terminated') {
      answer = syncer.syncTerminatedPod({ pod, runtimeStatus, podStatusFn }, signal);
    } else if (state === 'terminating') {
      answer = syncer.syncTerminatingPod({ pod, runtimeStatus, gracePeriodSeconds, podStatusFn }, signal);
    } else {
      answer = syncer.syncPod({ updateType: update.updateType as SyncPodType, pod, mirrorPod, runtimeStatus }, signal);
    }
    // what gave no promise may still be under way: it is not known to have succeeded
    if (!isThenable(answer)) throw new StatusManagerError('ERR_INVALID_ARGUMENT', 'the pod syncer returned no promise');
    const result = (await answer) as { readonly isTerminal?: unknown } | null | undefined;
    return { failed: false, isTerminal: state === 'sync' && result?.isTerminal === true };
  } catch (error) {
    return { failed: true, error };
  }
}
