// Behaviour of pkg/kubelet/types/pod_update.go IsCriticalPod, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { isMirrorPod, isStaticPod } from '../../api/pod/pod-identity.ts';

/** The lowest priority of the classes that Kubernetes itself has. */
const systemPriority = 2_000_000_000;

/** True for a pod that the node does not do without: static pods, their mirrors, and pods of the system's priority classes. */
export function isCriticalPod(pod: Pod): boolean {
  return isStaticPod(pod) || isMirrorPod(pod) || (pod.spec?.priority ?? 0) >= systemPriority;
}
