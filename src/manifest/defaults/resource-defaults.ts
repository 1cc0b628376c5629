// Behaviour of pkg/apis/core/v1/defaults.go (resource lists, pod-level resources) and k8s.io/component-helpers/resource, v1.36.3.
import { compareQuantities, roundedUpToMilli, sumOfQuantities } from '../../wire/quantity-value.ts';
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

/** What the containers of a pod ask for together: the regular ones and sidecars, or the largest init container beside its sidecars. */
export function aggregate(spec: PodSpec, member: 'limits' | 'requests'): ResourceList {
  const of = (container: Container): ResourceList => container.resources?.[member] ?? {};
  const total: ResourceList = {};
  for (const container of spec.containers) add(total, of(container));
  const sidecars: ResourceList = {};
  const starting: ResourceList = {};
  for (const container of spec.initContainers ?? []) {
    const beside = { ...(isSidecar(container) ? {} : of(container)) };
    if (isSidecar(container)) {
      add(total, of(container));
      add(sidecars, of(container));
    }
    add(beside, sidecars);
    raise(starting, beside);
  }
  raise(total, starting);
  return total;
}

function add(list: ResourceList, more: ResourceList): void {
  for (const [name, quantity] of Object.entries(more)) {
    const held = Object.hasOwn(list, name) ? list[name] : undefined;
    list[name] = held === undefined ? quantity : sumOfQuantities(held, quantity);
  }
}

function raise(list: ResourceList, least: ResourceList): void {
  for (const [name, quantity] of Object.entries(least)) {
    const held = Object.hasOwn(list, name) ? list[name] : undefined;
    if (held === undefined || compareQuantities(held, quantity) < 0) list[name] = quantity;
  }
}
