// Behaviour of pkg/apis/core/v1/helper/qos GetPodQOS, v1.36.3.
import type { Container, PodSpec } from '../conditions/restart-policy.ts';
import { addQuantities, compareQuantities } from '../wire/quantity-sum.ts';
import type { Pod } from '../wire/types.ts';

type Given = { readonly [name: string]: string } | null | undefined;

const names = ['cpu', 'memory'] as const;

/** The pod's quality of service: what the apiserver says, or else what its resources come to. */
export function podQOSClass({ spec, status }: Pod): string {
  return status?.qosClass || computeQOSClass(spec);
}

/** By cpu and memory of the pod itself, if it says anything of resources, or else of all its containers. */
function computeQOSClass(spec: PodSpec | undefined): string {
  const holders: Pick<Container, 'resources'>[] = spec?.resources
    ? [spec]
    : [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const requests = new Map<string, string>();
  const limits = new Map<string, string>();
  let isLimited = true;
  for (const { resources } of holders) {
    addUp(requests, resources?.requests);
    if (addUp(limits, resources?.limits) < names.length) isLimited = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const asksForLess = Array.from(requests).some(([name, quantity]) => compareQuantities(quantity, limits.get(name) ?? '0') !== 0);
  return isLimited && !asksForLess && requests.size === limits.size ? 'Guaranteed' : 'Burstable';
}

/** Adds the positive amounts of cpu and memory; returns how many of the two there are. */
function addUp(total: Map<string, string>, given: Given): number {
  let found = 0;
  for (const name of names) {
    const quantity = given?.[name];
    if (quantity === undefined || compareQuantities(quantity, '0') <= 0) continue;
    const before = total.get(name);
    total.set(name, before === undefined ? quantity : addQuantities(before, quantity));
    found += 1;
  }
  return found;
}
