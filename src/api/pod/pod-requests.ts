// Behaviour of k8s.io/component-helpers/resource (PodRequests, PodLimits), v0.36.3, as the kubelet uses them. The scheduler counts in
// numbers, with what containers have by their status: see src/scheduler/nodes/pod-info.ts.

import { canonicalQuantity } from '../quantity/quantity.ts';
import { QuantityTotal } from '../quantity/quantity-arithmetic.ts';
import { isRestartableInitContainer, type PodSpec } from './pod-containers.ts';

/** Quantities by the name of the resource. */
export type Quantities = Record<string, string>;
type Given = { readonly [name: string]: string } | null | undefined;

/** True for a resource that a pod may ask for as a whole. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/** What the whole pod asks for, its overhead included. */
export function podRequests(spec: PodSpec | undefined): Quantities {
  const total = totalOfContainers(spec, 'requests');
  setPodLevel(total, spec?.resources?.requests);
  addAll(total, spec?.overhead);
  return canonical(total);
}

/** What the pod's containers ask for together. */
export function containerRequests(spec: PodSpec | undefined): Quantities {
  return canonical(totalOfContainers(spec, 'requests'));
}

/** What the whole pod is limited to; its overhead comes on top of what is limited. */
export function podLimits(spec: PodSpec | undefined): Quantities {
  const total = totalOfContainers(spec, 'limits');
  setPodLevel(total, spec?.resources?.limits);
  const nothing = new QuantityTotal('0');
  for (const name in spec?.overhead) {
    const limit = total.get(name);
    if (limit !== undefined && limit.compare(nothing) !== 0) limit.add(String(spec.overhead[name]));
  }
  return canonical(total);
}

/** Sums by the name of the resource. */
export type Totals = Map<string, QuantityTotal>;

/**
 * The regular containers and the sidecars together, or, where that is more, what is needed while an init container runs
 * beside the sidecars before it. Each container is asked only for what it names itself, so that the work grows with what
 * the containers say, and not with the names of all of them.
 */
export function totalOfContainers(spec: PodSpec | null | undefined, kind: 'requests' | 'limits'): Totals {
  const total: Totals = new Map();
  for (const { resources } of spec?.containers ?? []) addAll(total, resources?.[kind]);
  const sidecars: Totals = new Map();
  const mostForInit: Totals = new Map();
  for (const container of spec?.initContainers ?? []) {
    const own = container.resources?.[kind];
    for (const name in own) {
      const meanwhile = new QuantityTotal(String(own[name]));
      const held = sidecars.get(name);
      if (held !== undefined) meanwhile.add(held);
      raiseTo(mostForInit, name, meanwhile);
    }
    if (!isRestartableInitContainer(container)) continue;
    addAll(total, own);
    addAll(sidecars, own);
  }
  for (const [name, most] of mostForInit) raiseTo(total, name, most);
  return total;
}

/** What the pod itself says of cpu, memory and huge pages counts instead of what its containers say. */
function setPodLevel(total: Totals, given: Given): void {
  for (const name in given) {
    if (isPodLevelResource(name)) total.set(name, new QuantityTotal(String(given[name])));
  }
}

function addAll(total: Totals, given: Given): void {
  for (const name in given) {
    const before = total.get(name);
    if (before === undefined) total.set(name, new QuantityTotal(String(given[name])));
    else before.add(String(given[name]));
  }
}

function raiseTo(total: Totals, name: string, quantity: QuantityTotal): void {
  const before = total.get(name);
  if (before === undefined || quantity.compare(before) > 0) total.set(name, new QuantityTotal(quantity));
}

function canonical(total: Totals): Quantities {
  return Object.fromEntries(Array.from(total, ([name, quantity]) => [name, canonicalQuantity(String(quantity))]));
}
