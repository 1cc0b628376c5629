// Rules of PodEligibleToPreemptOthers, pkg/scheduler/framework/plugins/defaultpreemption, v1.36.3.
import type { NodeFailures } from '../framework/plugin.ts';
import type { Snapshot } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';

/** Why the pod may not preempt others now; undefined where it may. */
export function whyNotEligible(pod: PodInfo, failed: NodeFailures, snapshot: Snapshot): string | undefined {
  if (pod.pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nodeName = pod.pod.status?.nominatedNodeName ?? '';
  // no victim's end would make room on such a node, so the pod does not wait for one
  if (nodeName === '' || failed.get(nodeName)?.code !== 'Unschedulable') return undefined;
  const victims = snapshot.get(nodeName)?.pods ?? [];
  return victims.some((victim) => victim.priority < pod.priority && isEndingByPreemption(victim))
    ? 'not eligible due to a terminating pod on the nominated node.'
    : undefined;
}

function isEndingByPreemption({ pod: { metadata, status } }: PodInfo): boolean {
  if ((metadata?.deletionTimestamp ?? undefined) === undefined) return false;
  const condition = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  return condition?.status === 'True' && condition.reason === 'PreemptionByScheduler';
}
