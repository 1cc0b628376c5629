// Behaviour of UpdatePodCondition in pkg/api/v1/pod/util.go, v1.36.3, for the pods that a kubelet ends by itself.

import { formatTime } from '../../api/json/time.ts';
import type { Pod, WirePodCondition, WirePodStatus } from '../../api/json/types.ts';

/** Says in the status that the node ends the pod. A condition that says so already keeps the time of its transition, and its place. */
export function setDisruptionTarget(status: WirePodStatus, { metadata }: Pod, message: string, now: number): void {
  const type = 'DisruptionTarget';
  const observedGeneration = metadata?.generation;
  const conditions = status.conditions ?? [];
  const index = conditions.findIndex((condition) => condition.type === type);
  const before = conditions[index];
  const since = before?.status === 'True' ? before.lastTransitionTime : undefined;
  const condition: WirePodCondition = {
    type,
    status: 'True',
    reason: 'TerminationByKubelet',
    message,
    lastTransitionTime: since ?? formatTime(now),
    ...(observedGeneration !== undefined && { observedGeneration }),
  };
  status.conditions = before === undefined ? [...conditions, condition] : conditions.with(index, condition);
}
