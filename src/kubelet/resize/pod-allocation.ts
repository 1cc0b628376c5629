// Behaviour of pkg/kubelet/allocation/allocation_manager.go (UpdatePodFromAllocation), v1.36.3.
import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../api/json/types.ts';
import type { PodSpec } from '../../api/pod/pod-containers.ts';
import { bytesText, canonicalQuantity, nanoInMilli, nanoInOne } from '../../api/quantity/quantity.ts';
import { quantityInNano } from '../../api/quantity/quantity-arithmetic.ts';
import { type GivenResources, type Resources, wireResources } from '../../node/pod-status/pod-resources.ts';

/** The resources of a pod's init and regular containers, by name, and of the pod as a whole. */
export interface PodAllocation {
  readonly containers: Readonly<Record<string, Resources>>;
  readonly pod?: Resources;
}

/** What the pod's spec asks for. */
export function allocationOf({ spec }: Pod): PodAllocation {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return {
    containers: Object.fromEntries(containers.map(({ name, resources }) => [name, wireResources(resources)])),
    ...(spec?.resources && { pod: wireResources(spec.resources) }),
  };
}

/** The pod with the resources of the allocation in its spec; the same object where they are the spec's own. */
export function withAllocation(pod: Pod, { containers, pod: podLevel }: PodAllocation): Pod {
  const { spec } = pod;
  if (spec === undefined) return pod;
  const init = withResources(spec.initContainers, containers);
  const regular = withResources(spec.containers, containers);
  const isSamePod = isDeepStrictEqual(wireResources(spec.resources), podLevel ?? {});
  if (init === spec.initContainers && regular === spec.containers && isSamePod) return pod;
  const { resources: _own, initContainers: _init, ...rest } = spec;
  const resources = isSamePod ? spec.resources : podLevel;
  return {
    ...pod,
    spec: {
      ...rest,
      containers: regular,
      ...(init !== undefined && { initContainers: init }),
      ...(resources !== undefined && { resources }),
    },
  };
}

/** The same list where nothing differs. A container that the allocation does not know keeps its own resources. */
function withResources<List extends PodSpec['initContainers']>(list: List, allocated: PodAllocation['containers']): List {
  let result: PodSpec['containers'][number][] | undefined;
  for (const [index, container] of (list ?? []).entries()) {
    const own = Object.hasOwn(allocated, container.name) ? allocated[container.name] : undefined;
    if (own === undefined || isDeepStrictEqual(wireResources(container.resources), own)) continue;
    result ??= [...(list ?? [])];
    result[index] = { ...container, resources: own };
  }
  return (result ?? list) as List;
}

// Behaviour of pkg/kubelet/kuberuntime/kuberuntime_manager.go (resourceRequirements) and pkg/kubelet/util (GetLimits), v1.36.3.

/** What a spec asks for; also what an allocation keeps. */
export type ResourceName = 'cpu' | 'memory';

/** Processor in thousandths of a core, memory in bytes; 0 where nothing is said. */
export interface AllocatedAmounts {
  readonly cpuRequest: number;
  readonly cpuLimit: number;
  readonly memoryRequest: number;
  readonly memoryLimit: number;
}

/** Thousandths of a quantity, rounded up; 0 for none. Throws ERR_INVALID_ARGUMENT for what is no quantity. */
export function milliOf(quantity: string | undefined): number {
  return quantity === undefined ? 0 : roundedUp(quantity, nanoInMilli);
}

/** A quantity as a whole number, rounded up; 0 for none. Throws ERR_INVALID_ARGUMENT for what is no quantity. */
export function wholeOf(quantity: string | undefined): number {
  return quantity === undefined ? 0 : roundedUp(quantity, nanoInOne);
}

function roundedUp(quantity: string, unit: bigint): number {
  const nano = quantityInNano(canonicalQuantity(quantity));
  return Number(nano > 0n ? (nano + unit - 1n) / unit : nano / unit);
}

/** What a container gets: a limit that it does not have itself is the pod's. */
export function allocatedAmountsOf(podLevel: PodSpec['resources'], own: GivenResources): AllocatedAmounts {
  const { requests, limits } = own ?? {};
  return {
    cpuRequest: milliOf(requests?.cpu),
    cpuLimit: milliOf(limits?.cpu) || milliOf(podLevel?.limits?.cpu),
    memoryRequest: wholeOf(requests?.memory),
    memoryLimit: wholeOf(limits?.memory) || wholeOf(podLevel?.limits?.memory),
  };
}

export function sameAmounts(a: AllocatedAmounts, b: AllocatedAmounts): boolean {
  return sameOf('cpu', a, b) && sameOf('memory', a, b);
}

/** Request and limit of one resource are the same. */
export function sameOf(name: ResourceName, a: AllocatedAmounts, b: AllocatedAmounts): boolean {
  return a[`${name}Request`] === b[`${name}Request`] && a[`${name}Limit`] === b[`${name}Limit`];
}

/** The amounts as a spec would ask for them. */
export function resourcesOf({ cpuRequest, cpuLimit, memoryRequest, memoryLimit }: AllocatedAmounts): NonNullable<GivenResources> {
  return {
    limits: { ...(cpuLimit && { cpu: `${cpuLimit}m` }), ...(memoryLimit && { memory: bytesText(memoryLimit) }) },
    requests: { ...(cpuRequest && { cpu: `${cpuRequest}m` }), ...(memoryRequest && { memory: bytesText(memoryRequest) }) },
  };
}
