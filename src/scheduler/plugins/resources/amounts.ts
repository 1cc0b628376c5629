// Behaviour of pkg/scheduler/framework/plugins/noderesources, resource_allocation.go, v1.36.3.
import type { NodeInfo } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';

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
export function percentOf(part: number, whole: number): number {
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
