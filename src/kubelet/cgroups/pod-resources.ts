// Behaviour of pkg/kubelet/cm/helpers_linux.go ResourceConfigForPod, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { thousandths, wholeUnits } from '../../api/quantity/quantity-arithmetic.ts';
import { podLimits, podRequests } from '../../node/pod-status/pod-resources.ts';
import type { LinuxContainerResources } from '../runtime/linux-resources.ts';
import { hugepageLimits } from './huge-pages.ts';
import type { CheckedNodeLimits } from './node-limits.ts';
import { qosClassOf } from './pod-class.ts';
import { minShares, quotaOf, sharesOf } from './processor-time.ts';

/** The limits of a pod's own cgroup: those of all its containers together, where each of them has one, with its overhead. */
export function podCgroupResources(pod: Pod, limits: CheckedNodeLimits): LinuxContainerResources {
  const [requested, limited] = [podRequests(pod.spec), podLimits(pod.spec)];
  const pages = hugepageLimits(limits.hugePageSizes, requested);
  const hugePages = pages.length > 0 ? { hugepageLimits: pages } : {};
  const qosClass = qosClassOf(pod);
  if (qosClass === 'BestEffort') return { cpuShares: minShares, ...hugePages };
  const cpuPeriod = limits.cpuCFSQuotaPeriodUs;
  const cpuQuota = limits.cpuCFSQuota ? quotaOf(thousandths(limited.cpu), cpuPeriod) : -1;
  const isGuaranteed = qosClass === 'Guaranteed';
  return {
    cpuShares: sharesOf(thousandths(requested.cpu)),
    ...((isGuaranteed || isLimited(pod, 'cpu')) && { cpuQuota, cpuPeriod }),
    ...((isGuaranteed || isLimited(pod, 'memory')) && { memoryLimitInBytes: wholeUnits(limited.memory) }),
    ...hugePages,
  };
}

/**
 * True where the pod itself or each of its containers has such a limit. An init container that runs beside a limited sidecar
 * counts as limited, as for the kubelet.
 */
function isLimited({ spec }: Pod, name: 'cpu' | 'memory'): boolean {
  const hasLimit = ({ resources }: Pick<Container, 'resources'>) => thousandths(resources?.limits?.[name]) !== 0;
  if (thousandths(spec?.resources?.limits?.[name]) !== 0) return true;
  let besideLimited = false;
  const isInitLimited = (container: Container) => {
    const own = hasLimit(container);
    if (own && isRestartableInitContainer(container)) besideLimited = true;
    return own || besideLimited;
  };
  return (spec?.containers ?? []).every(hasLimit) && (spec?.initContainers ?? []).every(isInitLimited);
}
