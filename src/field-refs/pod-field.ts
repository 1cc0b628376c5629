// Behaviour of pkg/kubelet/kubelet_pods.go podFieldSelectorRuntimeValue and pkg/apis/core/pods
// ConvertDownwardAPIFieldLabel, v1.36.3.
import type { Pod } from '../wire/types.ts';
import { FieldRefError } from './field-ref-error.ts';
import { metadataFieldValue, splitSubscript } from './metadata-field.ts';

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
  ...['spec.nodeName', 'spec.restartPolicy', 'spec.serviceAccountName', 'spec.schedulerName'],
  ...['status.phase', 'status.hostIP', 'status.hostIPs', 'status.podIP', 'status.podIPs'],
];

/** The value of a field, as an environment variable shows it. Throws {@link FieldRefError} for a field that has none. */
export function podFieldValue(pod: Pod, { apiVersion, fieldPath }: FieldSelector, addresses: FieldAddresses): string {
  const { podIPs, hostIPs } = addresses;
  if (apiVersion && apiVersion !== 'v1') throw new FieldRefError(`unsupported pod version: ${apiVersion}`);
  requireKnownPath(fieldPath);
  switch (fieldPath) {
    case 'spec.nodeName':
    case 'spec.host':
      return pod.spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return pod.spec?.serviceAccountName ?? '';
    case 'status.hostIP':
      return firstHostIP(hostIPs);
    case 'status.hostIPs':
      firstHostIP(hostIPs);
      return hostIPs.join(',');
    case 'status.podIP':
      return podIPs[0] ?? '';
    case 'status.podIPs':
      return podIPs.join(',');
    default:
      return metadataFieldValue(pod, fieldPath);
  }
}

function requireKnownPath(fieldPath: string): void {
  const subscript = splitSubscript(fieldPath);
  if (subscript !== undefined) {
    if (subscript.path === 'metadata.annotations' || subscript.path === 'metadata.labels') return;
    throw new FieldRefError(`field label does not support subscript: ${fieldPath}`);
  }
  if (fieldPath !== 'spec.host' && !known.includes(fieldPath)) {
    throw new FieldRefError(`field label not supported: ${fieldPath}`);
  }
}

function firstHostIP(hostIPs: readonly string[]): string {
  const [first] = hostIPs;
  if (first === undefined) throw new FieldRefError('host IP unknown: the node has no address yet');
  return first;
}
