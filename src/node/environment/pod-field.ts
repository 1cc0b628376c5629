// Behaviour of pkg/kubelet/kubelet_pods.go podFieldSelectorRuntimeValue and pkg/apis/core/pods
// ConvertDownwardAPIFieldLabel, v1.36.3.
import type { Pod } from '../../api/json/types.ts';
import { type Container, namedContainers } from '../../api/pod/pod-containers.ts';
import {
  metadataField,
  type ResourceField,
  type ResourceQuantities,
  resourceField,
  resourceFieldOf,
  splitFieldPath,
} from '../../api/pod/pod-fields.ts';
import { thousandths } from '../../api/quantity/quantity-arithmetic.ts';

/** Which field of the pod is meant. */
export interface FieldSelector {
  /** Absent or empty counts as `v1`. */
  readonly apiVersion?: string | undefined;
  /** Such as `status.podIP` or `metadata.labels['zone']`. */
  readonly fieldPath: string;
}

/** The addresses that a pod may ask for, the primary one first. */
export interface FieldAddresses {
  /** Of the pod. */
  readonly podIPs: readonly string[];
  /** Of the node. */
  readonly hostIPs: readonly string[];
}

const known: readonly string[] = [
  ...['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'],
  ...['spec.nodeName', 'spec.restartPolicy', 'spec.serviceAccountName', 'spec.schedulerName', 'spec.host'],
  ...['status.phase', 'status.hostIP', 'status.hostIPs', 'status.podIP', 'status.podIPs'],
];

/** The value of a field, as an environment variable shows it. Throws an `Error` with the kubelet's message where there is none. */
export function podFieldValue(pod: Pod, { apiVersion, fieldPath }: FieldSelector, addresses: FieldAddresses): string {
  const { podIPs, hostIPs } = addresses;
  if (apiVersion && apiVersion !== 'v1') throw new Error(`unsupported pod version: ${apiVersion}`);
  requireKnownPath(fieldPath);
  switch (fieldPath) {
    case 'spec.nodeName':
    case 'spec.host':
      return pod.spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return pod.spec?.serviceAccountName ?? '';
    case 'status.hostIP':
      return requireAddress(hostIPs);
    case 'status.hostIPs':
      requireAddress(hostIPs);
      return hostIPs.join(',');
    case 'status.podIP':
      return podIPs[0] ?? '';
    case 'status.podIPs':
      return podIPs.join(',');
    default:
      return metadataField(pod, fieldPath);
  }
}

function requireKnownPath(fieldPath: string): void {
  const { path, key } = splitFieldPath(fieldPath);
  if (key === undefined && !known.includes(fieldPath)) throw new Error(`field label not supported: ${fieldPath}`);
  if (key !== undefined && path !== 'metadata.annotations' && path !== 'metadata.labels') {
    throw new Error(`field label does not support subscript: ${fieldPath}`);
  }
}

function requireAddress(hostIPs: readonly string[]): string {
  const [first] = hostIPs;
  if (first === undefined) throw new Error('the node has no address yet');
  return first;
}

// Behaviour of pkg/kubelet/kubelet_pods.go containerResourceRuntimeValue and kubelet_resources.go, v1.36.3.

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
