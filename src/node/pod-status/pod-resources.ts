// Behaviour of pkg/kubelet/kubelet_pods.go convertToAPIPodLevelResourcesStatus, v1.36.3, of an agent that reads no cgroups.
import type { Pod, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer, type PodSpec } from '../../api/pod/pod-containers.ts';
import { canonicalQuantity } from '../../api/quantity/quantity.ts';
import { QuantityTotal } from '../../api/quantity/quantity-arithmetic.ts';

/** What the whole pod has been given. While it runs, what was reported before stays. */
export function podResourceMembers(pod: Pod, old: WirePodStatus): Pick<WirePodStatus, 'resources' | 'allocatedResources'> {
  const requests = podRequests(pod.spec);
  return {
    resources: pod.status?.phase === 'Running' ? runningResources(pod, old, requests) : effectiveResources(pod, requests),
    ...(isAny(requests) && { allocatedResources: { ...requests } }),
  };
}

function effectiveResources(pod: Pod, requests: Quantities): Resources {
  return assembled(pod, requests, podLimits(pod.spec));
}

function runningResources(pod: Pod, old: WirePodStatus, requests: Quantities): Resources {
  const given = wireResources(pod.spec?.resources);
  const own: Quantities = { ...given.requests };
  if (own.memory === undefined && requests.memory !== undefined) own.memory = requests.memory;
  const reported = old.phase === 'Running' ? old.resources : undefined;
  return assembled(pod, keptQuantities(own, reported?.requests), keptQuantities(given.limits, reported?.limits));
}

function assembled(pod: Pod, requests: Quantities | undefined, limits: Quantities | undefined): Resources {
  const claims = resourceClaims(pod.spec?.resources);
  return {
    ...(claims !== undefined && { claims }),
    ...(isAny(requests) && { requests }),
    ...(isAny(limits) && { limits }),
  };
}

function isAny(quantities: Quantities | undefined): quantities is Quantities {
  for (const _ in quantities) return true;
  return false;
}

// Behaviour of pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses (resources), v1.36.3.

/**
 * What a container that was made has been given: what its spec asks for, but while it runs on as the same container, the cpu
 * and memory that were `reported` before.
 */
export function containerResources(
  { resources: spec }: Container,
  reported: WireContainerStatus['resources'],
): Pick<WireContainerStatus, 'resources' | 'allocatedResources'> {
  const allocated = wireQuantities(spec?.requests);
  return {
    resources: reported === undefined ? wireResources(spec) : withReported(spec, reported),
    ...(allocated !== undefined && { allocatedResources: allocated }),
  };
}

/** A container that asks for no limits at all has none, and likewise for requests. */
function withReported(spec: Container['resources'], reported: Resources): Resources {
  const resources = wireResources(spec);
  const limits = spec?.limits ? keptQuantities(resources.limits, reported.limits) : undefined;
  const requests = spec?.requests ? keptQuantities(resources.requests, reported.requests) : undefined;
  return { ...resources, ...(limits !== undefined && { limits }), ...(requests !== undefined && { requests }) };
}

// Behaviour of k8s.io/component-helpers/resource (PodRequests, PodLimits), v0.36.3, as the kubelet's status uses them.

/** Quantities by the name of the resource. */
export type Quantities = Record<string, string>;
export type Resources = NonNullable<WireContainerStatus['resources']>;
type Given = { readonly [name: string]: string } | null | undefined;
type GivenResources = PodSpec['containers'][number]['resources'];

/** A copy as the apiserver writes quantities; undefined for an empty list. Throws ERR_INVALID_ARGUMENT for what is no quantity. */
function wireQuantities(given: Given): Quantities | undefined {
  let result: Quantities | undefined;
  for (const name in given) {
    result ??= {};
    result[name] = canonicalQuantity(String(given[name]));
  }
  return result;
}

/** A copy of what a spec asks for. */
export function wireResources(given: GivenResources): Resources {
  const { limits, requests } = given ?? {};
  const result: Resources = {};
  const wireClaims = resourceClaims(given);
  if (wireClaims !== undefined) result.claims = wireClaims;
  const [wireLimits, wireRequests] = [wireQuantities(limits), wireQuantities(requests)];
  if (wireLimits !== undefined) result.limits = wireLimits;
  if (wireRequests !== undefined) result.requests = wireRequests;
  return result;
}

/** Undefined for none. */
function resourceClaims(given: GivenResources): Resources['claims'] {
  if (!given?.claims?.length) return undefined;
  return given.claims.map(({ name, request }) => (request ? { name, request } : { name }));
}

/** `quantities` with the cpu and the memory that were reported before. */
function keptQuantities(quantities: Quantities | undefined, reported: Given): Quantities | undefined {
  const { cpu, memory } = reported ?? {};
  if (cpu === undefined && memory === undefined) return quantities;
  return { ...quantities, ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) };
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
type Totals = Map<string, QuantityTotal>;

/**
 * The regular containers and the sidecars together, or, where that is more, what is needed while an init container runs
 * beside the sidecars before it. Each container is asked only for what it names itself, so that the work grows with what
 * the containers say, and not with the names of all of them.
 */
function totalOfContainers(spec: PodSpec | undefined, kind: 'requests' | 'limits'): Totals {
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
    if (name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')) {
      total.set(name, new QuantityTotal(String(given[name])));
    }
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
