// Behaviour of pkg/kubelet/kubelet_pods.go convertToAPIPodLevelResourcesStatus, v1.36.3, of an agent that reads no cgroups.
import type { Pod, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import type { Container, PodSpec } from '../../api/pod/pod-containers.ts';
import { podLimits, podRequests, type Quantities } from '../../api/pod/pod-requests.ts';
import { canonicalQuantity } from '../../api/quantity/quantity.ts';

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

export type Resources = NonNullable<WireContainerStatus['resources']>;
type Given = { readonly [name: string]: string } | null | undefined;
/** The resources of a container as its pod's spec has them. */
export type GivenResources = PodSpec['containers'][number]['resources'];

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
