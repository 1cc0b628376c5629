import { getPodCondition } from '../../conditions/pod-conditions.ts';
import { isTerminalPhase } from '../../conditions/pod-phase.ts';
import { createWirePodStatusPatch } from '../../patch/pod-status-patch.ts';
import type { WirePodStatus } from '../../wire/types.ts';
import type { PodStatuses, VersionedPodStatus } from '../cache/pod-statuses.ts';
import { differsFromServer } from '../rules/server-fill-ins.ts';
import type { ApiCopies, ApiPod } from './api-copies.ts';
import { type StatusToWriteContext, statusToWrite } from './status-to-write.ts';
import { canBeDeleted } from './sync-pod.ts';

export interface BatchView extends StatusToWriteContext {
  readonly copies: ApiCopies;
  readonly patchFormat: 'strategic' | 'json';
  readonly podStatuses: PodStatuses;
  readonly apiStatusVersions: ReadonlyMap<string, number>;
}

/** Why a batch sends a pod: a newer version, a DELETE that is due, or an API copy that says something else. */
export type SyncReason = 'version' | 'delete' | 'reconcile';

/**
 * What the periodic batch does with one pod; undefined when all is well, or the pod is a static one without a mirror.
 *
 * Behaviour of pkg/kubelet/status syncBatch, needsUpdate and needsReconcile, v1.36.3.
 */
export function reasonToSync(view: BatchView, podUID: string, entry: VersionedPodStatus): SyncReason | undefined {
  const target = view.agent.target(podUID);
  if (target === undefined) return undefined;
  const acknowledged = view.apiStatusVersions.get(target.apiUID);
  if (acknowledged === undefined || acknowledged < entry.version) return 'version';
  // a pod the agent no longer has is left as it is, until its status is dropped
  if (view.agent.pod(podUID) === undefined) return undefined;
  const copy = view.agent.freshest(target) ?? (target.managed && view.copies.read(target.managed));
  if (copy === undefined) return undefined;
  // a reconciled pod is deleted, too, when that is due; one whose DELETE was accepted may still need to be reconciled
  const differs = needsReconcile(entry.status, copy.normalized, view.ownedConditionTypes);
  if (differs && !isWritten(view, podUID, entry, copy)) return 'reconcile';
  return canBeDeleted(view.agent, podUID, entry, copy) ? 'delete' : undefined;
}

/** True when the apiserver's copy says something else than the cache, other than what the server fills in by itself. */
export function needsReconcile(cached: WirePodStatus, copy: WirePodStatus, ownedConditionTypes: ReadonlySet<string>): boolean {
  return differsFromServer(cached, copy, ownedConditionTypes);
}

/** True for a copy that differs only as the merge makes it: never Ready once ended, a phase held back, a shared condition not written yet. */
function isWritten(view: BatchView, podUID: string, entry: VersionedPodStatus, copy: ApiPod): boolean {
  // in the format that would be sent: they differ in whether an order of its own is a change
  const options = { uid: copy.uid, format: view.patchFormat };
  return createWirePodStatusPatch(copy.status, statusToWrite(view, podUID, entry, copy), options).unchanged;
}

/** The uids in `apiStatusVersions` that belong to no cached pod and no known mirror pod. */
export function orphanedVersions(view: BatchView): string[] {
  const mirrors = view.agent.knownMirrorUIDs();
  return [...view.apiStatusVersions.keys()].filter((uid) => view.podStatuses.get(uid) === undefined && !mirrors.has(uid));
}

/**
 * True for a change the cluster waits for: a pod becomes Ready or loses it, ends, or may be deleted.
 * `copy` is the apiserver's view; without one, a Ready or ended pod counts.
 */
export function isUrgent(entry: VersionedPodStatus, copy: ApiPod | undefined): boolean {
  if (entry.podIsFinished) return true;
  const { status } = entry;
  if (isTerminalPhase(status.phase) && !isTerminalPhase(copy?.status.phase)) return true;
  return isReady(status) !== (copy !== undefined && isReady(copy.status));
}

function isReady(status: WirePodStatus): boolean {
  return getPodCondition(status.conditions, 'Ready')?.status === 'True';
}
