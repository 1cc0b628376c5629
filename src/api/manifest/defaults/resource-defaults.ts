// Behaviour of pkg/apis/core/v1/defaults.go (resource lists, pod-level resources) and k8s.io/component-helpers/resource, v1.36.3.
import { QuantityTotal } from '../../quantity/quantity-sum.ts';
import { roundedUpToMilli } from '../../quantity/quantity-value.ts';
import { type Container, isSidecar, type PodSpec, type ResourceList, type ResourceRequirements } from '../types/pod-parts.ts';

/** Amounts finer than a thousandth are rounded up. */
export function roundResources(resources: { limits?: ResourceList; requests?: ResourceList }): void {
  roundList(resources.limits);
  roundList(resources.requests);
}

export function roundList(list: ResourceList | undefined): void {
  for (const [name, quantity] of Object.entries(list ?? {})) if (list) list[name] = roundedUpToMilli(quantity);
}

/** True for a resource that a pod as a whole may have. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name);
}

export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

/** A resource that may be requested below its limit. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** Completes the resources of the pod as a whole, where it says something about them. */
export function setPodLevelResources(spec: PodSpec): void {
  const { resources } = spec;
  if (!resources) return;
  const { limits = {}, requests = {} } = resources;
  if (Object.keys(limits).length > 0 || Object.keys(requests).length > 0) {
    for (const [name, limit] of Object.entries(aggregate(spec, 'limits'))) {
      if (isHugePages(name) && !Object.hasOwn(requests, name) && !Object.hasOwn(limits, name)) limits[name] = limit;
    }
    if (Object.keys(limits).length > 0) resources.limits = limits;
  }
  if (Object.keys(limits).length > 0) setPodLevelRequests(spec, resources, limits, requests);
}

function setPodLevelRequests(spec: PodSpec, resources: ResourceRequirements, limits: ResourceList, requests: ResourceList): void {
  for (const [name, request] of Object.entries(aggregate(spec, 'requests'))) {
    if (isPodLevelResource(name) && isOvercommitAllowed(name) && !Object.hasOwn(requests, name)) requests[name] = request;
  }
  for (const [name, limit] of Object.entries(limits)) {
    if (isPodLevelResource(name) && !Object.hasOwn(requests, name)) requests[name] = limit;
  }
  if (Object.keys(requests).length > 0) resources.requests = requests;
}

/**
 * What the containers of a pod ask for together: the regular ones and sidecars, or the largest init container beside its
 * sidecars. Each container is asked only for what it names itself, so that the work grows with what the containers say.
 */
export function aggregate(spec: PodSpec, member: 'limits' | 'requests'): ResourceList {
  const of = (container: Container): [name: string, quantity: string][] => Object.entries(container.resources?.[member] ?? {});
  const total: Totals = new Map();
  for (const container of spec.containers) for (const [name, quantity] of of(container)) add(total, name, quantity);
  const sidecars: Totals = new Map();
  const starting: Totals = new Map();
  for (const container of spec.initContainers ?? []) {
    for (const [name, quantity] of of(container)) {
      const beside = new QuantityTotal(quantity);
      const held = sidecars.get(name);
      if (held !== undefined) beside.add(held);
      raise(starting, name, beside);
      if (!isSidecar(container)) continue;
      add(total, name, quantity);
      add(sidecars, name, quantity);
    }
  }
  for (const [name, quantity] of starting) raise(total, name, quantity);
  return Object.fromEntries(Array.from(total, ([name, quantity]) => [name, String(quantity)]));
}

type Totals = Map<string, QuantityTotal>;

function add(total: Totals, name: string, quantity: string): void {
  const held = total.get(name);
  if (held === undefined) total.set(name, new QuantityTotal(quantity));
  else held.add(quantity);
}

function raise(total: Totals, name: string, least: QuantityTotal): void {
  const held = total.get(name);
  if (held === undefined || held.compare(least) < 0) total.set(name, new QuantityTotal(least));
}
