import type { Pod, WirePodStatus } from '../../wire/types.ts';
import type { VersionedPodStatus } from '../cache/pod-statuses.ts';
import { terminatedStatus } from '../rules/terminate-status.ts';
import type { AgentView } from './agent-view.ts';
import type { SyncRecords } from './sync-records.ts';

/**
 * True when a deleted pod may be finished for its agent: an ordinary pod the pod manager still has, deleting on the
 * apiserver, whose agent has set a status knowing so (and that one is acknowledged), with nothing left running and
 * everything reclaimed.
 */
export function isDueToFinish(agent: AgentView, records: SyncRecords, podUID: string, entry: VersionedPodStatus): boolean {
  if (entry.podIsFinished || entry.deletionSeenAt === undefined) return false;
  if (records.acknowledgedVersion(podUID) < entry.deletionSeenAt || !agent.isOrdinaryPod(podUID)) return false;
  const target = agent.target(podUID);
  const copy = target && agent.freshest(target);
  if (!copy?.deleting || copy.isMirrorPod) return false;
  return !agent.podCouldHaveRunningContainers(podUID, entry) && agent.podResourcesAreReclaimed(podUID, entry);
}

/** What `terminatePod` makes of it, with phase Succeeded when every regular container exited with 0. */
export function finishedStatus(pod: Pod, status: WirePodStatus): WirePodStatus {
  const finished = terminatedStatus(pod, status).status;
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return finished;
  const names = (pod.spec?.containers ?? []).map(({ name }) => name);
  const succeeded = (name: string): boolean =>
    finished.containerStatuses?.find((container) => container.name === name)?.state?.terminated?.exitCode === 0;
  return { ...finished, phase: names.length > 0 && names.every(succeeded) ? 'Succeeded' : 'Failed' };
}

/** What was finished by the manager stays so, whatever phase the agent sets later. `next` belongs to the caller. */
export function keepPhase(next: WirePodStatus, cached: WirePodStatus): void {
  for (const field of ['phase', 'reason', 'message'] as const) {
    if (cached[field] === undefined) delete next[field];
    else next[field] = cached[field];
  }
}
