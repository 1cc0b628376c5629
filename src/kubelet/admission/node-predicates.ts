// Behaviour of pkg/kubelet/lifecycle/predicate.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { hasFreePorts } from '../../api/pod/host-ports.ts';
import { isStaticPod } from '../../api/pod/pod-identity.ts';
import { matchesNodeAffinity } from '../../api/selectors/node-selector.ts';
import { findUntoleratedTaint } from '../../api/selectors/taints.ts';
import type { AdmissionCheck, AdmissionContext, Refusal } from './check.ts';
import { isCriticalPod } from './critical-pod.ts';
import { noRoom, outOf, shortages } from './resource-fit.ts';

const osLabel = 'kubernetes.io/os';

/** What no other pod's end would change: the operating system, and what the runtime cannot do. */
export const nodeKind: AdmissionCheck = ({ pod, node }) => {
  const { metadata, spec } = pod;
  const asked = metadata?.labels?.[osLabel];
  if (asked !== undefined && asked !== 'linux') {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message };
  }
  if (spec?.os != null && spec.os.name !== 'linux') {
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
  }
  const isStrict = spec?.securityContext?.supplementalGroupsPolicy === 'Strict';
  if (isStrict && node.status?.features?.supplementalGroupsPolicy !== true) {
    const message = 'SupplementalGroupsPolicy=Strict is not supported in this node';
    return { reason: 'SupplementalGroupsPolicyNotSupported', message };
  }
  return undefined;
};

/** What a scheduler looks at: resources, labels, the node's name, ports and taints. The first failure counts. */
export const schedulerPredicates: AdmissionCheck = (context) => {
  const { pod, others, node } = context;
  const [short] = shortages(pod, others, node);
  if (short !== undefined && !isCriticalPod(pod)) return outOf(short);
  const failure = predicateFailure(context, pod);
  if (failure !== undefined || short === undefined) return failure;
  // lesser pods may have to make room; where even that is not enough, a critical pod is refused, too
  const [lasting] = shortages(
    pod,
    others.filter((other) => !mayMakeRoom(other, pod)),
    node,
  );
  return lasting === undefined ? undefined : noRoom(lasting);
};

/** pkg/kubelet/types/pod_update.go Preemptable. */
function mayMakeRoom(other: Pod, critical: Pod): boolean {
  return !isCriticalPod(other) || (critical.spec?.priority ?? 0) > (other.spec?.priority ?? 0);
}

function predicateFailure({ others, node }: AdmissionContext, pod: Pod): Refusal | undefined {
  const failed = (name: string, why: string): Refusal => ({ reason: name, message: `Predicate ${name} failed: ${why}` });
  if (!matchesNodeAffinity(pod, node)) {
    return failed('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
  }
  const wanted = pod.spec?.nodeName;
  if (wanted && wanted !== node.metadata?.name) return failed('NodeName', "node(s) didn't match the requested node name");
  if (!hasFreePorts(pod, others)) return failed('NodePorts', "node(s) didn't have free ports for the requested pod ports");
  if (!isStaticPod(pod) && findUntoleratedTaint(node.spec?.taints, pod.spec?.tolerations, ['NoExecute']) !== undefined) {
    return failed('TaintToleration', "node(s) had taints that the pod didn't tolerate");
  }
  return undefined;
}
