// Behaviour of pkg/kubelet/kubelet_pods.go podFieldSelectorRuntimeValue and pkg/apis/core/pods
// ConvertDownwardAPIFieldLabel, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { metadataField, splitFieldPath } from '../../api/pod/pod-fields.ts';

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
