import { isDeepStrictEqual } from 'node:util';
import type { EventAction } from '../framework/cluster-event.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { ResourceAmounts } from '../nodes/resource.ts';
import type { ClusterEvent } from './cluster-event.ts';

/** What an update of a pod means for pods that wait: one event for each kind of change, or one of the kind `Update`. */
export function podUpdateEvents(before: PodInfo, after: PodInfo): readonly ClusterEvent[] {
  const [old, now] = [before.pod, after.pod];
  const prefix = (now.spec?.nodeName ?? '') === '' ? 'Unschedulable' : 'Assigned';
  const hadGates = (old.spec?.schedulingGates ?? []).length > 0;
  const actions: EventAction[] = [];
  if (!isDeepStrictEqual(old.metadata?.labels ?? {}, now.metadata?.labels ?? {})) actions.push('UpdatePodLabel');
  if (asksForLess(before.requests, after.requests)) actions.push('UpdatePodScaleDown');
  if (hadGates && (now.spec?.schedulingGates ?? []).length === 0) actions.push('UpdatePodSchedulingGatesEliminated');
  // tolerations can be added, and neither changed nor removed
  if ((old.spec?.tolerations ?? []).length !== (now.spec?.tolerations ?? []).length) actions.push('UpdatePodToleration');
  if (actions.length === 0) actions.push('Update');
  return actions.map((action) => ({ resource: 'Pod', action, label: `${prefix}Pod${action}` }));
}

function asksForLess(before: ResourceAmounts, after: ResourceAmounts): boolean {
  if (before.milliCPU > after.milliCPU || before.memory > after.memory) return true;
  if (before.ephemeralStorage > after.ephemeralStorage) return true;
  for (const [name, amount] of before.scalar) if (amount > (after.scalar.get(name) ?? 0)) return true;
  return false;
}
