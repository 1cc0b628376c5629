import { isDeepStrictEqual } from 'node:util';
import type { WireNode } from '../../api/json/types.ts';
import type { EventAction } from '../framework/cluster-event.ts';
import type { ClusterEvent } from './cluster-event.ts';

/**
 * What an update of a node means for pods that wait: one event for each kind of change. None for a change that helps nobody, such as another
 * heartbeat. A node that takes pods again counts as one whose taints changed.
 */
export function nodeUpdateEvents(before: WireNode, after: WireNode): readonly ClusterEvent[] {
  const actions: EventAction[] = [];
  if (before.spec?.unschedulable === true && after.spec?.unschedulable !== true) actions.push('UpdateNodeTaint');
  if (differ(before.status?.allocatable, after.status?.allocatable, {})) actions.push('UpdateNodeAllocatable');
  if (differ(before.metadata?.labels, after.metadata?.labels, {})) actions.push('UpdateNodeLabel');
  if (differ(before.spec?.taints, after.spec?.taints, [])) actions.push('UpdateNodeTaint');
  if (differ(conditionsOf(before), conditionsOf(after), {})) actions.push('UpdateNodeCondition');
  if (differ(before.metadata?.annotations, after.metadata?.annotations, {})) actions.push('UpdateNodeAnnotation');
  return actions.map((action) => ({ resource: 'Node', action, label: `Node${action}` }));
}

function differ(before: unknown, after: unknown, absent: object): boolean {
  return before !== after && !isDeepStrictEqual(before ?? absent, after ?? absent);
}

/** Their statuses alone: heartbeats change the times. */
function conditionsOf({ status }: WireNode): Readonly<Record<string, string>> {
  return Object.fromEntries((status?.conditions ?? []).map((condition) => [condition.type, condition.status]));
}
