// Behaviour of pkg/kubelet/eviction/eviction_manager.go (evictPod), v1.36.3.
import { formatTime } from '../../api/json/time.ts';
import type { Pod, WirePodCondition, WirePodStatus } from '../../api/json/types.ts';
import type { KillNowOptions } from '../../node/workers/workers-options.ts';

/** The reason in the pod's status and of the event. */
export const evictedReason = 'Evicted';

/** How a pod is killed that is evicted: at once, and Failed for good. `disrupts`: its status has the condition DisruptionTarget. */
export function evictionKill(pod: Pod, message: string, disrupts: boolean, now: number): KillNowOptions {
  return {
    evict: true,
    gracePeriodSeconds: 0,
    podStatusFn: (status) => {
      status.phase = 'Failed';
      status.reason = evictedReason;
      status.message = message;
      if (disrupts) setCondition(status, disruption(pod, message, now));
    },
  };
}

function disruption({ metadata }: Pod, message: string, now: number): WirePodCondition {
  const observedGeneration = metadata?.generation;
  return {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'TerminationByKubelet',
    message,
    lastTransitionTime: formatTime(now),
    ...(observedGeneration !== undefined && { observedGeneration }),
  };
}

/** A condition that says the same keeps the time of its transition. */
function setCondition(status: WirePodStatus, condition: WirePodCondition): void {
  const others = (status.conditions ?? []).filter(({ type }) => type !== condition.type);
  const before = status.conditions?.find(({ type }) => type === condition.type);
  const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
  status.conditions = [...others, { ...condition, ...(since !== undefined && { lastTransitionTime: since }) }];
}
