// Behaviour of pkg/kubelet/kubelet_pods.go convertToAPIPodLevelResourcesStatus, v1.36.3, of an agent that reads no cgroups.
import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import {
  keptQuantities,
  podLimits,
  podRequests,
  type Quantities,
  type Resources,
  resourceClaims,
  wireResources,
} from './resource-lists.ts';

/** What the whole pod has been given. While it runs, what was reported before stays. */
export function podResourceMembers(pod: Pod, old: WirePodStatus): Pick<WirePodStatus, 'resources' | 'allocatedResources'> {
  const requests = podRequests(pod.spec);
  return {
    resources: pod.status?.phase === 'Running' ? runningResources(pod, old, requests) : effectiveResources(pod, requests),
    ...(isAny(requests) && { allocatedResources: { ...requests } }),
  };
}

function effectiveResources(pod: Pod, requests: Quantities): Resources {
  return assembled(pod, requests, podLimits(pod.spec));
}

function runningResources(pod: Pod, old: WirePodStatus, requests: Quantities): Resources {
  const given = wireResources(pod.spec?.resources);
  const own: Quantities = { ...given.requests };
  if (own.memory === undefined && requests.memory !== undefined) own.memory = requests.memory;
  const reported = old.phase === 'Running' ? old.resources : undefined;
  return assembled(pod, keptQuantities(own, reported?.requests), keptQuantities(given.limits, reported?.limits));
}

function assembled(pod: Pod, requests: Quantities | undefined, limits: Quantities | undefined): Resources {
  const claims = resourceClaims(pod.spec?.resources);
  return {
    ...(claims !== undefined && { claims }),
    ...(isAny(requests) && { requests }),
    ...(isAny(limits) && { limits }),
  };
}

function isAny(quantities: Quantities | undefined): quantities is Quantities {
  for (const _ in quantities) return true;
  return false;
}
