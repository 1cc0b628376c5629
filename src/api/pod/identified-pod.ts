import { invalidArgument } from '../../base/errors.ts';
import { requirePathSegment, requireText } from '../../base/options.ts';
import type { Pod } from '../json/types.ts';
import { podFullName } from './pod-identity.ts';

export interface IdentifiedPod<P extends Pod = Pod> {
  readonly pod: P;
  readonly uid: string;
  readonly fullName: string;
}

/** The pod's uid. Throws ERR_INVALID_ARGUMENT for a pod without a uid, or without a name or namespace that fits into a path. */
export function requirePod(pod: Pod): string {
  if (typeof pod !== 'object' || pod === null) throw invalidArgument('pod', 'an object', pod);
  const { uid, name, namespace } = pod.metadata ?? {};
  requireText('pod.metadata.uid', uid);
  requirePathSegment('pod.metadata.name', name);
  requirePathSegment('pod.metadata.namespace', namespace);
  return uid;
}

/** What a pod is kept under. Throws as {@link requirePod} does. */
export function identify<P extends Pod>(pod: P): IdentifiedPod<P> {
  return { pod, uid: requirePod(pod), fullName: podFullName(pod) };
}
