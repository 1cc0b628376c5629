// Behaviour of pkg/kubelet/kubelet_pods.go containerResourceRuntimeValue and kubelet_resources.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { type Container, namedContainers } from '../../api/pod/pod-containers.ts';
import { type ResourceField, type ResourceQuantities, resourceField, resourceFieldOf } from '../../api/pod/pod-fields.ts';
import { thousandths } from '../../api/quantity/quantity-arithmetic.ts';

/** Which resource of which container is meant. */
export interface ResourceSelector extends ResourceField {
  /** Absent or empty: the container that asks. */
  readonly containerName?: string | undefined;
}

const podLevel: readonly string[] = ['cpu', 'memory'];

/**
 * A resource of a container, as an environment variable shows it: whole units of the divisor, rounded up. A limit that a regular
 * container has not is the pod's, or else what the node can allocate; a named init container has only limits of its own.
 *
 * @param own - The container whose environment is made.
 * @param allocatable - What the node has for pods.
 * @param containers - Those of the pod, where many of its resources are shown.
 */
export function containerResourceValue(
  pod: Pod,
  own: Container,
  selector: ResourceSelector,
  allocatable: ResourceQuantities,
  containers = namedContainers(pod),
): string {
  const { containerName } = selector;
  const defaults: Record<string, string> = { ...allocatable };
  for (const name of podLevel) {
    const limit = pod.spec?.resources?.limits?.[name];
    if (thousandths(limit) !== 0 && Object.hasOwn(defaults, name)) defaults[name] = String(limit);
  }
  if (!containerName) return resourceFieldOf(own, selector, defaults);
  const isRegular = containers.regular(containerName) !== undefined;
  return resourceField(pod, containerName, selector, isRegular ? defaults : {}, containers);
}
