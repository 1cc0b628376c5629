// Behaviour of pkg/apis/core/v1/helper/qos ComputePodQOS, v1.36.3.
import { membersOf } from '../json/json.ts';
import { compareQuantities, isQuantity, QuantityTotal } from '../quantity/quantity-arithmetic.ts';

export type PodQOSClass = 'BestEffort' | 'Burstable' | 'Guaranteed';

const names = ['cpu', 'memory'] as const;

/**
 * The quality of service that the apiserver gives a pod when it is created: by cpu and memory of the pod itself, if its spec
 * says anything of resources, or else of all its containers. What is no quantity counts as not said.
 */
export function computePodQOSClass(spec: unknown): PodQOSClass {
  const { resources: own } = membersOf(spec);
  const holders =
    own === undefined || own === null ? [...itemsAt(spec, 'containers'), ...itemsAt(spec, 'initContainers')] : [spec];
  const requests = new Map<string, QuantityTotal>();
  const limits = new Map<string, QuantityTotal>();
  let isLimited = true;
  for (const holder of holders) {
    const resources = membersOf(membersOf(holder).resources);
    addUp(requests, resources.requests);
    if (addUp(limits, resources.limits) < names.length) isLimited = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const none = new QuantityTotal('0');
  const asksForLess = Array.from(requests).some(([name, quantity]) => quantity.compare(limits.get(name) ?? none) !== 0);
  return isLimited && !asksForLess && requests.size === limits.size ? 'Guaranteed' : 'Burstable';
}

/** Adds the positive amounts of cpu and memory; returns how many of the two there are. */
function addUp(total: Map<string, QuantityTotal>, given: unknown): number {
  let found = 0;
  for (const name of names) {
    const quantity = String(membersOf(given)[name]);
    if (!isQuantity(quantity) || compareQuantities(quantity, '0') <= 0) continue;
    const before = total.get(name);
    if (before === undefined) total.set(name, new QuantityTotal(quantity));
    else before.add(quantity);
    found += 1;
  }
  return found;
}

function itemsAt(holder: unknown, key: string): readonly unknown[] {
  const list = membersOf(holder)[key];
  return Array.isArray(list) ? list : [];
}
