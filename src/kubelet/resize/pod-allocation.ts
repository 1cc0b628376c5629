// Behaviour of pkg/kubelet/allocation/allocation_manager.go (UpdatePodFromAllocation), v1.36.3.
import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../api/json/types.ts';
import type { PodSpec } from '../../api/pod/pod-containers.ts';
import { type Resources, wireResources } from '../../node/pod-status/pod-resources.ts';

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
