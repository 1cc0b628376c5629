import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import type { Clock } from '../../base/clock.ts';
import type { GivenContainer } from '../pod-status/given-container.ts';
import { podStatusFromContainers } from '../pod-status/pod-status-from-containers.ts';
import type { StatusFacts } from './provided-status.ts';

/**
 * The status that follows from a provider's list of a pod's containers and from the status before. Throws ERR_INVALID_ARGUMENT
 * for a container that the pod does not have, and for what cannot be.
 */
export function statusOfListed(facts: StatusFacts, containers: readonly GivenContainer[], clock: Clock): WirePodStatus {
  const { previous, hostIPs } = facts;
  return podStatusFromContainers(withContainers(facts.pod, containers), containers, { previous, hostIPs, clock });
}

/** A pod of which the agent knows no spec has the containers that the provider lists. */
function withContainers(pod: Pod, containers: readonly GivenContainer[]): Pod {
  if (pod.spec !== undefined) return pod;
  return { ...pod, spec: { containers: containers.map((container) => ({ name: container?.name })) } };
}
