// Behaviour of pkg/apis/core/v1/helper/qos GetPodQOS and pkg/kubelet/types IsNodeCriticalPod, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { isMirrorPod, isStaticPod } from '../../api/pod/pod-identity.ts';
import { computePodQOSClass, type PodQOSClass } from '../../api/pod/pod-qos-class.ts';

/** The quality of service that the pod was given, or else the one that its spec gives it. */
export function qosClassOf({ spec, status }: Pod): PodQOSClass {
  const given = status?.qosClass;
  if (given === 'BestEffort' || given === 'Burstable' || given === 'Guaranteed') return given;
  return computePodQOSClass(spec);
}

const systemCritical = 2_000_000_000;

/** True for a pod that the node cannot do without. */
export function isNodeCritical(pod: Pod): boolean {
  if (pod.spec?.priorityClassName !== 'system-node-critical') return false;
  return isStaticPod(pod) || isMirrorPod(pod) || (pod.spec.priority ?? 0) >= systemCritical;
}
