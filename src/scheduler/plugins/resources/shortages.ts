// Behaviour of pkg/scheduler/framework/plugins/noderesources, fit.go, v1.36.3.
import { isExtendedResource } from '../../../base/names.ts';
import type { Rejection } from '../../framework/status.ts';
import type { AllocatableAmounts, ResourceAmounts } from '../../nodes/resource.ts';

/** Extended resources that are not looked at. */
export interface Ignored {
  readonly names: ReadonlySet<string>;
  /** What stands before the `/` of their names. */
  readonly groups: ReadonlySet<string>;
}

/** A pod may ask for thousands of resources, and each node would name them all. */
const mostReasons = 100;

/**
 * Undefined where a pod with these requests fits on a node that has `allocatable`, of which its `pods` pods ask for `requested`. The rejection names what is missing, the first 100 of
 * it. It is
 * `UnschedulableAndUnresolvable` where the pod asks for more of something than the whole node has.
 */
export function shortages(
  requests: ResourceAmounts,
  allocatable: AllocatableAmounts,
  requested: ResourceAmounts,
  pods: number,
  ignored?: Ignored,
): Rejection | undefined {
  let reasons: string[] | undefined;
  let unresolvable = false;
  if (pods + 1 > allocatable.pods) reasons = ['Too many pods'];
  if (requests.milliCPU > 0 && requests.milliCPU > allocatable.milliCPU - requested.milliCPU) {
    reasons = added(reasons, 'Insufficient cpu');
    unresolvable ||= requests.milliCPU > allocatable.milliCPU;
  }
  if (requests.memory > 0 && requests.memory > allocatable.memory - requested.memory) {
    reasons = added(reasons, 'Insufficient memory');
    unresolvable ||= requests.memory > allocatable.memory;
  }
  if (requests.ephemeralStorage > 0 && requests.ephemeralStorage > allocatable.ephemeralStorage - requested.ephemeralStorage) {
    reasons = added(reasons, 'Insufficient ephemeral-storage');
    unresolvable ||= requests.ephemeralStorage > allocatable.ephemeralStorage;
  }
  for (const [name, amount] of requests.scalar) {
    if (amount === 0 || (ignored !== undefined && isIgnored(name, ignored))) continue;
    const capacity = allocatable.scalar.get(name) ?? 0;
    if (amount <= capacity - (requested.scalar.get(name) ?? 0)) continue;
    const isFull = reasons !== undefined && reasons.length >= mostReasons;
    if (!isFull) reasons = added(reasons, `Insufficient ${name}`);
    unresolvable ||= amount > capacity;
    // no further resource would change what is said
    if (isFull && unresolvable) break;
  }
  if (reasons === undefined) return undefined;
  return { code: unresolvable ? 'UnschedulableAndUnresolvable' : 'Unschedulable', reasons };
}

function added(reasons: string[] | undefined, reason: string): string[] {
  if (reasons === undefined) return [reason];
  reasons.push(reason);
  return reasons;
}

function isIgnored(name: string, { names, groups }: Ignored): boolean {
  return isExtendedResource(name) && (names.has(name) || groups.has(name.slice(0, name.indexOf('/'))));
}
