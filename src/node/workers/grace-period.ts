// Behaviour of calculateEffectiveGracePeriod in pkg/kubelet/pod_workers.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';

/**
 * The grace period of a pod that ends, in seconds, at least 1: the shortest that anyone has asked for so far (`current`, 0
 * where nobody has), else the pod's own. A deletion without any grace is the exception: what is asked for beside it counts.
 */
export function effectiveGracePeriod(current: number, pod: Pod | undefined, asked: number | undefined): number {
  let gracePeriod = current;
  let isAsked = false;
  for (const seconds of [pod?.metadata?.deletionGracePeriodSeconds, asked]) {
    if (seconds != null && (gracePeriod === 0 || seconds < gracePeriod)) {
      gracePeriod = seconds;
      isAsked = true;
    }
  }
  if (!isAsked && gracePeriod === 0) gracePeriod = pod?.spec?.terminationGracePeriodSeconds ?? 0;
  return gracePeriod >= 1 ? gracePeriod : 1;
}

/** The same, and never longer than `current`, also where the pod is deleted without any grace. */
export function shrinkingGracePeriod(current: number, pod: Pod | undefined, asked: number | undefined): number {
  const gracePeriod = effectiveGracePeriod(current, pod, asked);
  return current > 0 ? Math.min(current, gracePeriod) : gracePeriod;
}
