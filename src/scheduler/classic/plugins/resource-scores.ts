// Behaviour of pkg/scheduler/framework/plugins/noderesources, resource_allocation.go and the scores beside it, v1.22.17.
import type { Plugin } from '../../framework/plugin.ts';
import type { NodeInfo } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { inThousandths } from '../../nodes/quantity-amount.ts';
import { allocatableOf, counts, nonZeroUsage, requestedUsage, type Usage } from '../../plugins/resources/amounts.ts';
import { balanceOf } from '../../plugins/resources/balanced-allocation.ts';
import {
  leastAllocated,
  mostAllocated,
  type ResourceScorer,
  requestedToCapacityRatio,
  type ShapePoint,
} from '../../plugins/resources/strategies.ts';

const cpuAndMemory = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
] as const;

export interface RatioArgs {
  readonly shape: readonly ShapePoint[];
  readonly resources: readonly { readonly name: string; readonly weight: number }[];
}

/** The more is left over, the better. */
export const leastAllocatedScore = (): Plugin =>
  scoring('NodeResourcesLeastAllocated', leastAllocated(cpuAndMemory, classicUsage(nonZeroUsage)));

/** The less is left over, the better. */
export const mostAllocatedScore = (): Plugin =>
  scoring('NodeResourcesMostAllocated', mostAllocated(cpuAndMemory, classicUsage(nonZeroUsage)));

/** The score that a line has at the node's utilisation. */
export const ratioScore = ({ shape, resources }: RatioArgs): Plugin => {
  const score = requestedToCapacityRatio(resources, shape, classicUsage(nonZeroUsage));
  return scoring('RequestedToCapacityRatio', resources.length === 0 ? () => 0 : score);
};

/** The more equal the used parts of CPU and memory are, the better. */
export const balancedAllocationScore = (): Plugin => {
  const usage = classicUsage(requestedUsage);
  return scoring('NodeResourcesBalancedAllocation', (pod, node) => {
    const fractions: number[] = [];
    for (const { name } of cpuAndMemory) {
      const capacity = allocatableOf(node, name);
      const request = usage.request(pod, name);
      if (counts(name, capacity, request)) fractions.push(Math.min(1, (usage.used(node, name) + request) / capacity));
    }
    return balanceOf(fractions, fractions.length);
  });
};

function scoring(name: string, score: ResourceScorer): Plugin {
  return { name, eventsToRegister: () => [], score: (_state, pod: PodInfo, node: NodeInfo) => score(pod, node) };
}

/** The scores counted a pod's overhead of CPU in whole CPUs, rounded up, as if they were thousandths. */
function classicUsage(usage: Usage): Usage {
  return {
    used: usage.used,
    request(pod, resource) {
      const overhead = resource === 'cpu' ? pod.pod.spec?.overhead?.cpu : undefined;
      if (overhead === undefined) return usage.request(pod, resource);
      const thousandths = inThousandths(overhead);
      return usage.request(pod, resource) - thousandths + Math.ceil(thousandths / 1000);
    },
  };
}
