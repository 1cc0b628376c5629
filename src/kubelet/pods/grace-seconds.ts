// Behaviour of setTerminationGracePeriod in pkg/kubelet/kuberuntime, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import type { KillReason } from '../actions/pod-actions.ts';

/** The least time that a container is given to end by itself, in seconds. */
export const shortestGraceSeconds = 2;

/** How long a container may take to end, in seconds. A probe that has failed may say so itself. */
export function graceSeconds({ metadata, spec }: Pod, container: Container | undefined, reason: KillReason): number {
  const ofDeletion = metadata?.deletionGracePeriodSeconds;
  if (ofDeletion != null) return ofDeletion;
  const ofPod = spec?.terminationGracePeriodSeconds;
  if (ofPod == null) return shortestGraceSeconds;
  if (reason === 'startupProbe') return container?.startupProbe?.terminationGracePeriodSeconds ?? ofPod;
  if (reason === 'livenessProbe') return container?.livenessProbe?.terminationGracePeriodSeconds ?? ofPod;
  return ofPod;
}
