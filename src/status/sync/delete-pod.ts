import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import type { PodMetadata } from '../../client/resources/pod-client.ts';
import type { VersionedPodStatus } from '../cache/pod-statuses.ts';
import type { AgentView } from './agent-view.ts';
import type { ApiPod } from './api-copies.ts';
import { isOtherPod, isPodGone, readPod } from './read-pod.ts';
import { RequestFailure } from './request-failure.ts';
import type { Acknowledged, SyncAttempt, SyncContext, SyncOutcome } from './sync-context.ts';

/**
 * True when the pod's object may be deleted: it is being deleted, it is no mirror pod, the apiserver shows a terminal
 * phase, the agent has finished with it and its resources are reclaimed.
 */
export function canBeDeleted(agent: AgentView, podUID: string, entry: VersionedPodStatus, copy: ApiPod): boolean {
  if (!copy.deleting || copy.isMirrorPod || !isTerminalPhase(copy.status.phase) || !entry.podIsFinished) return false;
  return agent.podResourcesAreReclaimed(podUID, entry);
}

/** Deletes the pod whose status was acknowledged, when that is due. A failed request is an outcome; only a defect rejects. */
export async function deletePod(
  context: SyncContext,
  { podUID, admission }: SyncAttempt,
  acknowledged: Acknowledged,
): Promise<SyncOutcome> {
  const { agent, gate, podClient, podStatuses } = context;
  const { entry, copy } = acknowledged;
  if (!canBeDeleted(agent, podUID, entry, copy)) return { kind: 'done' };
  if (!gate.isOpenFor(admission)) {
    await gate.admit(admission);
    // meanwhile the agent may have set another status, and the deletion safety may say another thing
    if (podStatuses.get(podUID) !== entry || !canBeDeleted(agent, podUID, entry, copy)) return { kind: 'done' };
  }
  const { podNamespace, podName } = entry;
  try {
    const left: unknown = await gate.send({ verb: 'delete', podUID }, admission, (limits) =>
      podClient.deletePod(podNamespace, podName, { ...limits, gracePeriodSeconds: 0, uid: copy.uid }),
    );
    return outcomeOf(left);
  } catch (failure) {
    if (!isConflict(failure)) return outcomeOfFailure(agent, podUID, acknowledged, failure);
    // either another pod has this name, or the server was busy: only a GET tells
    try {
      const read = await readPod(context, podUID, entry, admission);
      return isOtherPod(agent, podUID, read) ? { kind: 'recreated' } : outcomeOfFailure(agent, podUID, acknowledged, failure);
    } catch (failureOfGet) {
      return outcomeOfFailure(agent, podUID, acknowledged, failureOfGet);
    }
  }
}

function isConflict(failure: unknown): boolean {
  return failure instanceof RequestFailure && failure.errorClass === 'conflict';
}

function outcomeOfFailure(agent: AgentView, podUID: string, { entry, copy }: Acknowledged, failure: unknown): SyncOutcome {
  if (!(failure instanceof RequestFailure)) throw failure;
  if (isPodGone(agent, podUID, failure)) return { kind: 'deleted' };
  return { kind: 'failed', failure, version: entry.version, resourceVersion: copy.resourceVersion };
}

/** What the answer to a DELETE says: the pod is gone, or finalizers hold it. */
function outcomeOf(answer: unknown): SyncOutcome {
  if (answer === undefined) return { kind: 'deleted' };
  const { finalizers = [], resourceVersion } = (answer ?? {}) as Partial<PodMetadata>;
  if (typeof answer === 'object' && Array.isArray(finalizers)) {
    if (finalizers.length === 0) return { kind: 'deleted' };
    if (typeof resourceVersion === 'string') return { kind: 'deleting', resourceVersion };
  }
  const error = new TypeError('deletePod() must resolve to the metadata of the pod, or to undefined');
  throw new RequestFailure('delete', 'broken-answer', error);
}
