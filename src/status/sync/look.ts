import { createWirePodStatusPatch } from '../../api/patch/pod-status-patch.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import { isPodReady } from '../conditions/pod-conditions.ts';
import { differsFromServer } from '../rules/server-fill-ins.ts';
import type { PodStatusReader, VersionedPodStatus } from '../status-cache.ts';
import type { AgentView, ApiTarget } from './agent-view.ts';
import { type ApiPod, noteInStep } from './api-copies.ts';
import { showsRunningContainer } from './finish-when-reclaimed.ts';
import { isOvertaken, mayTry } from './sync-context.ts';
import { canBeDeleted, type StatusToWriteContext, statusToWrite } from './sync-pod.ts';
import type { ApiStatusVersionsReader, SyncRecords } from './sync-records.ts';

export interface LookContext extends ReasonContext {
  readonly podStatuses: PodStatusReader;
  readonly records: SyncRecords;
}

/** What a look at a pod has found. */
export type Finding =
  /** All is well, or something is on its way already. */
  | { readonly kind: 'nothing' }
  /** Nothing is left to do for the pod: its status is to be dropped. */
  | { readonly kind: 'over' }
  /** What the pod waited for is over, and there is nothing to send. */
  | { readonly kind: 'wait-is-over' }
  /** The apiserver refused the status of a pod that has vanished since: it is to be read, for it may be gone there, too. */
  | { readonly kind: 'to-read' }
  | {
      readonly kind: 'to-send';
      readonly reason: SyncReason;
      readonly target: ApiTarget;
      readonly waitIsOver: boolean;
    };

const nothing: Finding = { kind: 'nothing' };

/** Looks at one pod, as each batch does with every pod. Changes nothing that can be told from outside. */
export function lookAt(context: LookContext, podUID: string): Finding {
  const { agent, podStatuses, records } = context;
  const entry = podStatuses.get(podUID);
  const target = agent.target(podUID);
  const state = records.state(podUID);
  if (entry === undefined || target === undefined || state?.underWay !== undefined) return nothing;
  if (isOver(context, podUID, entry, target)) return { kind: 'over' };
  const wait = state?.wait;
  const resourceVersion = agent.freshest(target)?.resourceVersion;
  const isHeldByFinalizers = wait?.kind === 'deleting';
  const wasListed = wait?.kind === 'deleting' && agent.wasListedSince(wait.since);
  const waitIsOver = isOvertaken(wait, resourceVersion, wasListed) || (!isHeldByFinalizers && mayTry(wait, entry.version));
  if (!waitIsOver && wait?.kind === 'quarantined' && agent.hasVanished(podUID)) return { kind: 'to-read' };
  if (!waitIsOver && !isHeldByFinalizers) return nothing;
  const reason = reasonToSync(context, podUID, entry, target, state?.phaseHeldBack);
  // an accepted DELETE is not sent again, but a foreign write to the pod is repaired
  if (reason !== undefined && (waitIsOver || reason !== 'delete')) return { kind: 'to-send', reason, target, waitIsOver };
  return waitIsOver && wait !== undefined ? { kind: 'wait-is-over' } : nothing;
}

/**
 * True when nothing is left to do for the pod. The pod manager does not show it; nothing of it runs, by its newest status and
 * by the deletion safety; and the apiserver does not know it, or the pod has vanished after its newest status was acknowledged,
 * its terminal phase included.
 */
function isOver({ agent, records }: LookContext, podUID: string, entry: VersionedPodStatus, target: ApiTarget): boolean {
  if (agent.pod(podUID) !== undefined || showsRunningContainer(entry.status)) return false;
  const state = records.state(podUID);
  const isGone = state?.wait?.kind === 'gone';
  const isAcknowledged = !state?.phaseHeldBack && records.isAcknowledged(podUID, entry.version, target);
  const isSettled = isGone || (agent.hasVanished(podUID) && isAcknowledged);
  return isSettled && !agent.podCouldHaveRunningContainers(podUID, entry);
}

interface ReasonContext extends StatusToWriteContext {
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
function reasonToSync(
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
  if (copy.inStepWith !== entry.status) {
    const differs = differsFromServer(entry.status, copy.normalized, ownedConditionTypes);
    if (!differs) noteInStep(copy, entry.status);
    else if (!isWritten(context, podUID, entry, copy)) return 'reconcile';
  }
  return canBeDeleted(agent, podUID, entry, copy) ? 'delete' : undefined;
}

/** True when the copy differs only in what the merge would leave as it is: a PATCH would be empty. */
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

/**
 * True for a change that the cluster waits for: a pod becomes Ready or loses it, ends, or may be deleted. After a restart the agent
 * finishes every ended pod once more. Where the apiserver has the end already, nobody waits for that: pods that start go first.
 * `copy` is the apiserver's view; without one, a Ready or ended pod counts.
 */
export function isUrgent(entry: VersionedPodStatus, copy: ApiPod | undefined): boolean {
  if (entry.podIsFinished && (copy === undefined || copy.deleting)) return true;
  const { status } = entry;
  if (isTerminalPhase(status.phase) && !isTerminalPhase(copy?.status.phase)) return true;
  return isPodReady(status) !== (copy !== undefined && isPodReady(copy.status));
}
