import type { WirePodStatus } from '../../api/json/types.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import type { VersionedPodStatus } from '../cache/pod-statuses.ts';
import { getPodCondition } from '../conditions/pod-conditions.ts';
import type { ApiPod } from './api-copies.ts';

/**
 * True for a change that the cluster waits for: a pod becomes Ready or loses it, ends, or may be deleted. After a restart the agent
 * finishes every ended pod once more. Where the apiserver has the end already, nobody waits for that: pods that start go first.
 * `copy` is the apiserver's view; without one, a Ready or ended pod counts.
 */
export function isUrgent(entry: VersionedPodStatus, copy: ApiPod | undefined): boolean {
  if (entry.podIsFinished && (copy === undefined || copy.deleting)) return true;
  const { status } = entry;
  if (isTerminalPhase(status.phase) && !isTerminalPhase(copy?.status.phase)) return true;
  return isReady(status) !== (copy !== undefined && isReady(copy.status));
}

function isReady(status: WirePodStatus): boolean {
  return getPodCondition(status.conditions, 'Ready')?.status === 'True';
}
