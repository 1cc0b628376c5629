// Behaviour of pkg/kubelet/qos/policy.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { wholeUnits } from '../../api/quantity/quantity-arithmetic.ts';
import { containerRequests } from '../../node/pod-status/pod-resources.ts';
import { isNodeCritical, qosClassOf } from './pod-class.ts';

const guaranteed = -997;
const bestEffort = 1000;
/** What a burstable container has at least, so that it goes before a guaranteed one that fills the memory. */
const leastOfBurstable = 3;

/**
 * Which container the kernel ends first when memory is short: -997 for guaranteed pods and those that the node cannot do
 * without, 1000 for best-effort ones. In between the container goes the later the more memory it asked for; a sidecar goes no
 * sooner than the regular containers.
 */
export function oomScoreAdj(pod: Pod, container: Container, memoryCapacityBytes: number): number {
  if (isNodeCritical(pod)) return guaranteed;
  const qosClass = qosClassOf(pod);
  if (qosClass !== 'Burstable') return qosClass === 'Guaranteed' ? guaranteed : bestEffort;
  const extra = unusedPodRequest(pod);
  const scoreOf = (bytes: number) => 1000 - Math.trunc((1000 * (bytes + extra)) / memoryCapacityBytes);
  const own = scoreOf(memoryRequest(container));
  const score = isSidecarOf(pod, container)
    ? Math.min(own, scoreOf(Math.min(...(pod.spec?.containers ?? []).map(memoryRequest))))
    : own;
  return score < leastOfBurstable ? leastOfBurstable : score === bestEffort ? bestEffort - 1 : score;
}

function memoryRequest({ resources }: Container): number {
  return wholeUnits(resources?.requests?.memory);
}

/** What the pod itself asks for beyond its containers, in equal parts for each of them. */
function unusedPodRequest({ spec }: Pod): number {
  const asked = wholeUnits(spec?.resources?.requests?.memory);
  if (asked === 0) return 0;
  const containers = (spec?.containers?.length ?? 0) + (spec?.initContainers?.length ?? 0);
  return Math.trunc((asked - wholeUnits(containerRequests(spec).memory)) / Math.max(1, containers));
}

function isSidecarOf({ spec }: Pod, container: Container): boolean {
  return isRestartableInitContainer(container) && spec?.initContainers?.some(({ name }) => name === container.name) === true;
}
