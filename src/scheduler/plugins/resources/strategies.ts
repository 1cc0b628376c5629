// Behaviour of pkg/scheduler/framework/plugins/noderesources: least_allocated.go, most_allocated.go and
// requested_to_capacity_ratio.go, v1.36.3.
import type { NodeInfo } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';

/** The score of a node, from 0 to 100, as if the pod were on it. */
export type ResourceScorer = (pod: PodInfo, node: NodeInfo) => number;

/** A point of the line that says which score belongs to which utilisation. */
export interface ShapePoint {
  /** Per cent, 0 to 100. */
  readonly utilization: number;
  /** 0 to 10. */
  readonly score: number;
}

type Counted = (used: number, capacity: number) => number;

/** The more is left over, the better: pods are spread. */
export function leastAllocated(resources: readonly WeighedResource[], usage: Usage = nonZeroUsage): ResourceScorer {
  return meanOf(resources, usage, (used, capacity) => (used > capacity ? 0 : percentOf(capacity - used, capacity)));
}

/** The less is left over, the better: nodes are filled up. */
export function mostAllocated(resources: readonly WeighedResource[], usage: Usage = nonZeroUsage): ResourceScorer {
  return meanOf(resources, usage, (used, capacity) => percentOf(Math.min(used, capacity), capacity));
}

/** The score that the line of `shape` has at the node's utilisation. A resource that scores 0 has no weight. */
export function requestedToCapacityRatio(
  resources: readonly WeighedResource[],
  shape: readonly ShapePoint[],
  usage: Usage = nonZeroUsage,
): ResourceScorer {
  const scoreAt = lineOf(shape);
  const scoreOf: Counted = (used, capacity) => scoreAt(used > capacity ? 100 : percentOf(used, capacity));
  return meanOf(resources, usage, scoreOf, { round: Math.round, countsZero: false });
}

/** The weighted mean over the resources that count. */
function meanOf(
  resources: readonly WeighedResource[],
  usage: Usage,
  scoreOf: Counted,
  { round, countsZero } = { round: Math.floor, countsZero: true },
): ResourceScorer {
  return (pod, node) => {
    let total = 0;
    let weights = 0;
    for (const { name, weight } of resources) {
      const capacity = allocatableOf(node, name);
      const request = usage.request(pod, name);
      if (!counts(name, capacity, request)) continue;
      const score = scoreOf(usage.used(node, name) + request, capacity);
      if (!countsZero && score <= 0) continue;
      total += score * weight;
      weights += weight;
    }
    return weights === 0 ? 0 : round(total / weights);
  };
}

/** A line through the points, flat before the first and after the last one. Ten points of score are a hundred of ours. */
function lineOf(shape: readonly ShapePoint[]): (utilization: number) => number {
  const points = shape.map(({ utilization, score }) => ({ utilization, score: score * 10 }));
  return (utilization) => {
    let previous: ShapePoint | undefined;
    for (const point of points) {
      if (utilization <= point.utilization) return previous === undefined ? point.score : between(previous, point, utilization);
      previous = point;
    }
    return previous?.score ?? 0;
  };
}

/** Cut towards zero, on a falling line too. */
function between(from: ShapePoint, to: ShapePoint, utilization: number): number {
  const rise = (to.score - from.score) * (utilization - from.utilization);
  return from.score + Math.trunc(rise / (to.utilization - from.utilization));
}

// Behaviour of pkg/scheduler/framework/plugins/noderesources, resource_allocation.go, v1.36.3.

/** A resource that a score looks at. */
export interface WeighedResource {
  readonly name: string;
  readonly weight: number;
}

/** What the scores read of a pod and a node, in thousandths of CPU and in whole units of all else. */
export interface Usage {
  /** What the pod asks for. */
  request(pod: PodInfo, resource: string): number;
  /** What the pods on the node ask for. */
  used(node: NodeInfo, resource: string): number;
}

/** What the node has to give; 0 where it has none. */
export function allocatableOf({ allocatable }: NodeInfo, resource: string): number {
  return amountOf(allocatable, resource);
}

/** What is really asked for. */
export const requestedUsage: Usage = {
  request: ({ requests }, resource) => amountOf(requests, resource),
  used: ({ requested }, resource) => amountOf(requested, resource),
};

/** A container that asks for no CPU or no memory counts as if it asked for 100m and 200 MiB. */
export const nonZeroUsage: Usage = {
  request: ({ nonZeroRequests, requests }, resource) => nonZeroAmount(nonZeroRequests, requests, resource),
  used: ({ nonZeroRequested, requested }, resource) => nonZeroAmount(nonZeroRequested, requested, resource),
};

/**
 * True where the resource counts in a score: the node has it and, unless it is CPU, memory or local storage, the pod asks
 * for it.
 */
export function counts(resource: string, allocatable: number, request: number): boolean {
  return allocatable !== 0 && (request !== 0 || isBasic(resource));
}

/** `part` in per cent of `whole`, cut to an integer. Exact also where the product is too large for a number. */
function percentOf(part: number, whole: number): number {
  const product = part * 100;
  return product <= Number.MAX_SAFE_INTEGER ? Math.floor(product / whole) : Number((BigInt(part) * 100n) / BigInt(whole));
}

function isBasic(resource: string): boolean {
  return resource === 'cpu' || resource === 'memory' || resource === 'ephemeral-storage';
}

function amountOf(amounts: PodInfo['requests'], resource: string): number {
  switch (resource) {
    case 'cpu':
      return amounts.milliCPU;
    case 'memory':
      return amounts.memory;
    case 'ephemeral-storage':
      return amounts.ephemeralStorage;
    default:
      return amounts.scalar.get(resource) ?? 0;
  }
}

function nonZeroAmount(nonZero: PodInfo['nonZeroRequests'], amounts: PodInfo['requests'], resource: string): number {
  if (resource === 'cpu') return nonZero.milliCPU;
  return resource === 'memory' ? nonZero.memory : amountOf(amounts, resource);
}
