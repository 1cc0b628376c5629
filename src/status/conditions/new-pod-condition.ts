import type { Pod, PodStatus, WirePodCondition } from '../../api/json/types.ts';

/** The reasons the kubelet's generators give. */
export const conditionReason = {
  unknownContainerStatuses: 'UnknownContainerStatuses',
  podCompleted: 'PodCompleted',
  podFailed: 'PodFailed',
  containersNotReady: 'ContainersNotReady',
  containersNotInitialized: 'ContainersNotInitialized',
  readinessGatesNotReady: 'ReadinessGatesNotReady',
  restartAllContainersStarted: 'RestartAllContainersStarted',
} as const;

/** What a generator decides; type and observedGeneration come from {@link newPodCondition}. */
export interface ConditionVerdict {
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

/**
 * A condition without times: when it last changed is decided against the old status, later. It carries the pod's
 * generation, unless there is no old status at all, or the pod has no generation: then there is none to report.
 */
export function newPodCondition(
  pod: Pod,
  oldStatus: PodStatus | undefined,
  type: string,
  { status, reason, message }: ConditionVerdict,
): WirePodCondition {
  const generation = oldStatus == null ? undefined : pod.metadata?.generation;
  const condition: WirePodCondition = { type, status };
  if (generation) condition.observedGeneration = generation;
  if (reason) condition.reason = reason;
  if (message) condition.message = message;
  return condition;
}
