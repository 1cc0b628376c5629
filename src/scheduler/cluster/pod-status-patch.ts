// Behaviour of pkg/api/v1/pod UpdatePodCondition and pkg/scheduler/util PatchPodStatus, v1.36.3.
import { formatTime } from '../../api/json/time.ts';
import type { WirePod, WirePodCondition } from '../../api/json/types.ts';
import type { PodStatusChange } from '../framework/scheduler-client.ts';

/** The strategic merge patch of the pod's status; undefined where the pod has all of it. */
export function statusPatch(pod: WirePod, change: PodStatusChange, now: number): object | undefined {
  const condition = changedCondition(pod, change, now);
  const { nominatedNodeName } = change;
  const isNominationNew = nominatedNodeName !== undefined && nominatedNodeName !== (pod.status?.nominatedNodeName ?? '');
  if (condition === undefined && !isNominationNew) return undefined;
  return {
    metadata: { uid: pod.metadata?.uid },
    status: {
      ...(condition !== undefined && { conditions: [condition] }),
      ...(isNominationNew && { nominatedNodeName: nominatedNodeName === '' ? null : nominatedNodeName }),
    },
  };
}

/** The time of the last transition stays while the status does. */
function changedCondition(pod: WirePod, { condition }: PodStatusChange, now: number): Partial<WirePodCondition> | undefined {
  if (condition === undefined) return undefined;
  const { type, status, reason, message } = condition;
  const { generation: observedGeneration } = pod.metadata ?? {};
  const old = pod.status?.conditions?.find((each) => each.type === type);
  const isSame = old?.status === status;
  if (isSame && old.reason === reason && old.message === message && old.observedGeneration === observedGeneration)
    return undefined;
  return {
    ...{ type, status },
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(!isSame && { lastTransitionTime: formatTime(now) }),
  };
}
