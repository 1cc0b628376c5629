// Behaviour of pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses (resources), v1.36.3.

import type { WireContainerStatus } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { keptQuantities, type Resources, wireQuantities, wireResources } from './resource-lists.ts';

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
