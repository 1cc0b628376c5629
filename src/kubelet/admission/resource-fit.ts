// Behaviour of the scheduler's node resources plugin and of pkg/kubelet/lifecycle/predicate.go, v1.36.3.

import type { Pod, WireNode } from '../../api/json/types.ts';
import { canonicalQuantity } from '../../api/quantity/quantity.ts';
import { quantityInNano } from '../../api/quantity/quantity-arithmetic.ts';
import { isExtendedResource } from '../../base/names.ts';
import { podRequests, type Quantities } from '../../node/pod-status/pod-resources.ts';
import type { Refusal } from './check.ts';

const nanoInMilli = 10n ** 6n;
const nanoInOne = 10n ** 9n;

/** A resource of which the node has too little. CPU counts in thousandths. */
export interface Shortage {
  readonly resource: string;
  readonly requested: bigint;
  readonly used: bigint;
  readonly capacity: bigint;
}

/** What the node has too little of for one more pod, in the order in which the kubelet names them. */
export function shortages(pod: Pod, others: readonly Pod[], node: WireNode): Shortage[] {
  const allocatable = node.status?.allocatable ?? {};
  const found: Shortage[] = [];
  const pods = amount('pods', allocatable.pods);
  const count = BigInt(others.length);
  if (count + 1n > pods) found.push({ resource: 'pods', requested: 1n, used: count, capacity: pods });
  const requests = requestsOf(pod);
  const names = Object.keys(requests).filter((name) => requests[name] !== 0n);
  if (names.length === 0) return found;
  const used = others.map(requestsOf);
  const short: Shortage[] = [];
  for (const resource of names) {
    const requested = requests[resource] ?? 0n;
    // an extended resource that the node does not have is one of the cluster, and not the node's to give
    if (isExtendedResource(resource) && !(resource in allocatable)) continue;
    const taken = used.reduce((sum, each) => sum + (each[resource] ?? 0n), 0n);
    const capacity = amount(resource, allocatable[resource]);
    if (requested > capacity - taken) short.push({ resource, requested, used: taken, capacity });
  }
  return [...found, ...short.sort(byName)];
}

export function outOf({ resource, requested, used, capacity }: Shortage): Refusal {
  const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${resource}`, message: `Node didn't have enough resource: ${resource}, ${amounts}` };
}

/** For a critical pod that would not fit either if every lesser pod went. */
export function noRoom({ resource, requested, used, capacity }: Shortage): Refusal {
  const missing = `[(res: ${resource}, q: ${requested - (capacity - used)}), ]`;
  const failure = `no set of running pods found to reclaim resources: ${missing}`;
  const message = `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: ${failure}`;
  return { reason: 'UnexpectedAdmissionError', message };
}

const first = ['cpu', 'memory', 'ephemeral-storage'];

function byName({ resource: one }: Shortage, { resource: other }: Shortage): number {
  const place = (name: string): number => (first.includes(name) ? first.indexOf(name) : first.length);
  return place(one) - place(other) || (one < other ? -1 : 1);
}

function requestsOf({ spec }: Pod): Record<string, bigint> {
  const requests: Quantities = podRequests(spec ?? undefined);
  return Object.fromEntries(Object.entries(requests).map(([name, quantity]) => [name, amountOf(name, quantity)]));
}

function amount(resource: string, quantity: string | undefined): bigint {
  return quantity === undefined ? 0n : amountOf(resource, canonicalQuantity(quantity));
}

/** Of a quantity in canonical form. Rounded up, as the scheduler counts. */
function amountOf(resource: string, canonical: string): bigint {
  const unit = resource === 'cpu' ? nanoInMilli : nanoInOne;
  return (quantityInNano(canonical) + unit - 1n) / unit;
}
