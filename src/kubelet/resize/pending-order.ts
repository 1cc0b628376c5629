// Behaviour of pkg/kubelet/allocation/allocation_manager.go (sortPendingResizes), v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { computePodQOSClass } from '../../api/pod/pod-qos-class.ts';
import { compareQuantities } from '../../api/quantity/quantity-arithmetic.ts';
import { podRequests } from '../../node/pod-status/pod-resources.ts';

/** A pod that wants other resources than it has. */
export interface PendingResize {
  readonly pod: Pod;
  /** The same pod with the resources that it has. */
  readonly allocated: Pod;
  /** Since when it waits, in milliseconds since the epoch; undefined: it has not been looked at yet. */
  readonly waitingSince: number | undefined;
}

/** Who is looked at first: who asks for no more than before, then by priority, Guaranteed pods, and who waits longest. */
export function byUrgency(a: PendingResize, b: PendingResize): number {
  return (
    Number(asksForMore(a)) - Number(asksForMore(b)) ||
    priorityOf(b) - priorityOf(a) ||
    Number(isGuaranteed(b)) - Number(isGuaranteed(a)) ||
    (a.waitingSince ?? Number.MAX_SAFE_INTEGER) - (b.waitingSince ?? Number.MAX_SAFE_INTEGER)
  );
}

function asksForMore({ pod, allocated }: PendingResize): boolean {
  const [wanted, has] = [podRequests(pod.spec), podRequests(allocated.spec)];
  return ['cpu', 'memory'].some((name) => compareQuantities(wanted[name] ?? '0', has[name] ?? '0') > 0);
}

function priorityOf({ pod }: PendingResize): number {
  return pod.spec?.priority ?? 0;
}

function isGuaranteed({ pod }: PendingResize): boolean {
  return computePodQOSClass(pod.spec) === 'Guaranteed';
}
