// Behaviour of pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses (resources), v1.36.3.
import type { Container } from '../conditions/restart-policy.ts';
import type { RuntimeContainerStatus } from '../pod/runtime-pod.ts';
import type { WireContainerStatus } from '../wire/types.ts';
import { keptQuantities, type Resources, wireQuantities, wireResources } from './resource-lists.ts';

type ResourceMembers = Pick<WireContainerStatus, 'resources' | 'allocatedResources'>;

/**
 * What a container that the runtime lists has been given: what its spec asks for, but while it runs on as the same container,
 * the cpu and memory that were reported before.
 */
export function containerResources(
  { resources: spec }: Container,
  record: RuntimeContainerStatus,
  old: WireContainerStatus | undefined,
): ResourceMembers {
  const allocated = wireQuantities(spec?.requests);
  const runsOn = record.state === 'running' && old?.state?.running && (old.containerID ?? '') === record.id;
  return {
    resources: runsOn && old.resources !== undefined ? withReported(spec, old.resources) : wireResources(spec),
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
