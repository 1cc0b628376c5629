import { createWirePodStatusPatch } from '../../api/patch/pod-status-patch.ts';
import type { PodStatusReader, VersionedPodStatus } from '../cache/pod-statuses.ts';
import { differsFromServer } from '../rules/server-fill-ins.ts';
import type { AgentView, ApiTarget } from './agent-view.ts';
import type { ApiPod } from './api-copies.ts';
import type { ApiStatusVersionsReader } from './api-status-versions.ts';
import { canBeDeleted } from './delete-pod.ts';
import { type StatusToWriteContext, statusToWrite } from './status-to-write.ts';

export interface ReasonContext extends StatusToWriteContext {
  readonly patchFormat: 'strategic' | 'json';
  readonly apiStatusVersions: ApiStatusVersionsReader;
}

/** Why a look at a pod sends it: a newer version, a DELETE that is due, or an API copy that says something else. */
export type SyncReason = 'version' | 'delete' | 'reconcile';

/**
 * What a look finds to do for one pod; undefined when all is well. `phaseHeldBack`: the acknowledged version's terminal phase
 * is not on the apiserver.
 *
 * Behaviour of pkg/kubelet/status syncBatch, needsUpdate and needsReconcile, v1.36.3.
 */
export function reasonToSync(
  context: ReasonContext,
  podUID: string,
  entry: VersionedPodStatus,
  target: ApiTarget,
  phaseHeldBack = false,
): SyncReason | undefined {
  const { agent, apiStatusVersions, ownedConditionTypes } = context;
  if (apiStatusVersions.get(target.apiUID, podUID) < entry.version) return 'version';
  // a pod that the pod manager does not show is left as it is, but for a terminal phase that may be written by now
  if (agent.pod(podUID) === undefined) {
    return phaseHeldBack && !agent.podCouldHaveRunningContainers(podUID, entry) ? 'reconcile' : undefined;
  }
  const copy = agent.copyToCompare(target);
  if (copy === undefined) return undefined;
  // a repair comes before a DELETE: the sync that repairs also deletes when that is due
  const differs = differsFromServer(entry.status, copy.normalized, ownedConditionTypes);
  if (differs && !isWritten(context, podUID, entry, copy)) return 'reconcile';
  return canBeDeleted(agent, podUID, entry, copy) ? 'delete' : undefined;
}

/** True for a copy that differs only as the merge makes it: never Ready once ended, a phase held back, a shared condition not written yet. */
function isWritten(context: ReasonContext, podUID: string, entry: VersionedPodStatus, copy: ApiPod): boolean {
  // the two formats differ in whether another order of the conditions is a change
  const options = { uid: copy.uid, format: context.patchFormat };
  return createWirePodStatusPatch(copy.status, statusToWrite(context, podUID, entry, copy), options).unchanged;
}

/** Those of the API pods' uids that belong to no cached pod and to no known mirror pod. */
export function orphanedUIDs(agent: AgentView, podStatuses: PodStatusReader, apiUIDs: Iterable<string>): string[] {
  const mirrors = agent.knownMirrorUIDs();
  const orphaned: string[] = [];
  for (const uid of apiUIDs) if (podStatuses.get(uid) === undefined && mirrors.get(uid) === undefined) orphaned.push(uid);
  return orphaned;
}
