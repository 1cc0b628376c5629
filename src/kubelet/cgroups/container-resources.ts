// Behaviour of pkg/kubelet/kuberuntime/kuberuntime_container_linux.go and kuberuntime_sandbox_linux.go, v1.36.3, on a node
// without swap and without the alpha feature MemoryQoS.

import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { thousandths, wholeUnits } from '../../api/quantity/quantity-arithmetic.ts';
import { podLimits, podRequests } from '../../node/pod-status/pod-resources.ts';
import type { LinuxContainerResources } from '../runtime/linux-resources.ts';
import { hugepageLimits } from './huge-pages.ts';
import type { CheckedNodeLimits } from './node-limits.ts';
import { oomScoreAdj } from './oom-score.ts';
import { quotaOf, sharesOf } from './processor-time.ts';

/** The kernel's limits of one container: its own, or else those of its pod. */
export function containerResources(pod: Pod, container: Container, limits: CheckedNodeLimits): LinuxContainerResources {
  const podLevel = pod.spec?.resources;
  const limit = (name: 'cpu' | 'memory') => {
    const own = container.resources?.limits?.[name];
    return thousandths(own) === 0 && podLevel ? podLevel.limits?.[name] : own;
  };
  return {
    ...linuxResources(
      { cpuRequest: container.resources?.requests?.cpu, cpuLimit: limit('cpu'), memoryLimit: limit('memory') },
      limits,
    ),
    oomScoreAdj: oomScoreAdj(pod, container, limits.memoryCapacityBytes),
    hugepageLimits: hugepageLimits(limits.hugePageSizes, container.resources?.limits, podLevel?.limits),
  };
}

/** What all containers of the pod take together, without its overhead. */
export function sandboxResources({ spec }: Pod, limits: CheckedNodeLimits): LinuxContainerResources {
  const withoutOverhead = spec && { ...spec, overhead: {} };
  const [requested, limited] = [podRequests(withoutOverhead), podLimits(withoutOverhead)];
  return linuxResources({ cpuRequest: requested.cpu, cpuLimit: limited.cpu, memoryLimit: limited.memory }, limits);
}

/** What the sandbox itself takes; undefined where its runtime class says nothing of it. */
export function sandboxOverhead({ spec }: Pod, limits: CheckedNodeLimits): LinuxContainerResources | undefined {
  if (!spec?.overhead) return undefined;
  const { cpu, memory } = spec.overhead;
  return linuxResources({ cpuRequest: cpu, cpuLimit: cpu, memoryLimit: memory }, limits);
}

interface Amounts {
  readonly cpuRequest: string | undefined;
  readonly cpuLimit: string | undefined;
  readonly memoryLimit: string | undefined;
}

function linuxResources({ cpuRequest, cpuLimit, memoryLimit }: Amounts, limits: CheckedNodeLimits): LinuxContainerResources {
  const memoryLimitInBytes = wholeUnits(memoryLimit);
  const cpuPeriod = limits.cpuCFSQuotaPeriodUs;
  return {
    // a container that has a limit and no request asks for its limit
    cpuShares: sharesOf(thousandths(cpuRequest ?? cpuLimit)),
    ...(memoryLimitInBytes !== 0 && { memoryLimitInBytes }),
    ...(limits.cpuCFSQuota && { cpuQuota: quotaOf(thousandths(cpuLimit), cpuPeriod), cpuPeriod }),
    ...(limits.cgroupVersion === 2 && !limits.singleProcessOOMKill && { unified: { 'memory.oom.group': '1' } }),
  };
}
