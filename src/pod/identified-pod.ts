import { invalidArgument } from '../errors.ts';
import type { Pod } from '../wire/types.ts';
import { buildPodFullName } from './pod-identity.ts';

export interface IdentifiedPod {
  readonly pod: Pod;
  readonly uid: string;
  readonly fullName: string;
}

/** What a pod is kept under. Throws ERR_INVALID_ARGUMENT for a pod without uid, name or namespace. */
export function identify(pod: Pod): IdentifiedPod {
  if (typeof pod !== 'object' || pod === null) throw invalidArgument('pod', 'an object', pod);
  const { uid, name, namespace } = pod.metadata ?? {};
  return {
    pod,
    uid: required('uid', uid),
    fullName: buildPodFullName(required('name', name), required('namespace', namespace)),
  };
}

function required(field: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalidArgument(`pod.metadata.${field}`, 'a non-empty string', value);
}
