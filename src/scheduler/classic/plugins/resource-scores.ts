// Behaviour of pkg/scheduler/framework/plugins/noderesources, fit.go, v1.22.17.
import type { Plugin, Rejection } from '../../framework/plugin.ts';
import type { NodeInfo } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { inThousandths, type ResourceAmounts } from '../../nodes/resource.ts';
import { balanceOf } from '../../plugins/resources/balanced-allocation.ts';
import { fitEvents } from '../../plugins/resources/node-resources-fit.ts';
import {
  allocatableOf,
  counts,
  leastAllocated,
  mostAllocated,
  nonZeroUsage,
  type ResourceScorer,
  requestedToCapacityRatio,
  requestedUsage,
  type ShapePoint,
  type Usage,
} from '../../plugins/resources/strategies.ts';

/**
 * Rejects a node that has too little left of what the pod asks for. A pod that asks for anything also fails where CPU, memory or
 * storage is overdrawn of which it asks for nothing. `ignored`: resources that extenders keep the accounts of.
 */
export function classicNodeResourcesFit(ignored: ReadonlySet<string> = new Set()): Plugin {
  return {
    name: 'NodeResourcesFit',
    eventsToRegister: fitEvents,
    filter: (_state, { requests }, node) => shortages(requests, node, ignored),
  };
}

function shortages(
  requests: ResourceAmounts,
  { pods, allocatable, requested }: NodeInfo,
  ignored: ReadonlySet<string>,
): Rejection | undefined {
  const reasons: string[] = [];
  if (pods.length + 1 > allocatable.pods) reasons.push('Too many pods');
  if (asksForAnything(requests)) {
    if (requests.milliCPU > allocatable.milliCPU - requested.milliCPU) reasons.push('Insufficient cpu');
    if (requests.memory > allocatable.memory - requested.memory) reasons.push('Insufficient memory');
    if (requests.ephemeralStorage > allocatable.ephemeralStorage - requested.ephemeralStorage)
      reasons.push('Insufficient ephemeral-storage');
    for (const [name, amount] of requests.scalar) {
      if (ignored.has(name)) continue;
      if (amount > (allocatable.scalar.get(name) ?? 0) - (requested.scalar.get(name) ?? 0)) reasons.push(`Insufficient ${name}`);
    }
  }
  return reasons.length === 0 ? undefined : { code: 'Unschedulable', reasons };
}

function asksForAnything({ milliCPU, memory, ephemeralStorage, scalar }: ResourceAmounts): boolean {
  return milliCPU !== 0 || memory !== 0 || ephemeralStorage !== 0 || scalar.size > 0;
}

// Behaviour of pkg/scheduler/framework/plugins/noderesources, resource_allocation.go and the scores beside it, v1.22.17.

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
