// Behaviour of pkg/scheduler/framework/plugins/noderesources, fit.go, v1.22.17.
import type { Plugin } from '../../framework/plugin.ts';
import type { Rejection } from '../../framework/status.ts';
import type { NodeInfo } from '../../nodes/node-info.ts';
import type { ResourceAmounts } from '../../nodes/resource.ts';
import { fitEvents } from '../../plugins/resources/fit-hints.ts';

/**
 * Rejects a node that has too little left of what the pod asks for. A pod that asks for anything also fails where CPU, memory or
 * storage is overdrawn of which it asks for nothing.
 */
export function classicNodeResourcesFit(): Plugin {
  return {
    name: 'NodeResourcesFit',
    eventsToRegister: fitEvents,
    filter: (_state, { requests }, node) => shortages(requests, node),
  };
}

function shortages(requests: ResourceAmounts, { pods, allocatable, requested }: NodeInfo): Rejection | undefined {
  const reasons: string[] = [];
  if (pods.length + 1 > allocatable.pods) reasons.push('Too many pods');
  if (asksForAnything(requests)) {
    if (requests.milliCPU > allocatable.milliCPU - requested.milliCPU) reasons.push('Insufficient cpu');
    if (requests.memory > allocatable.memory - requested.memory) reasons.push('Insufficient memory');
    if (requests.ephemeralStorage > allocatable.ephemeralStorage - requested.ephemeralStorage)
      reasons.push('Insufficient ephemeral-storage');
    for (const [name, amount] of requests.scalar) {
      if (amount > (allocatable.scalar.get(name) ?? 0) - (requested.scalar.get(name) ?? 0)) reasons.push(`Insufficient ${name}`);
    }
  }
  return reasons.length === 0 ? undefined : { code: 'Unschedulable', reasons };
}

function asksForAnything({ milliCPU, memory, ephemeralStorage, scalar }: ResourceAmounts): boolean {
  return milliCPU !== 0 || memory !== 0 || ephemeralStorage !== 0 || scalar.size > 0;
}
