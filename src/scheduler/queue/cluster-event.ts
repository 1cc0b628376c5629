import { isDeepStrictEqual } from 'node:util';
import type { WireNode, WirePod } from '../../api/json/types.ts';
import type { ClusterEventWithHint, EventAction } from '../framework/plugin.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { ResourceAmounts } from '../nodes/resource.ts';

/** A change in the cluster that may help pods which wait. */
export interface ClusterEvent {
  /** `Pod`, `Node`, `*`, or the name that `eventNameOf` gives a resource. */
  readonly resource: string;
  readonly action: EventAction;
  /** As the metrics of kube-scheduler name it, such as `AssignedPodAdd`. */
  readonly label: string;
}

/** A pod has waited too long: it is tried again whatever has rejected it. */
export const unschedulableTimeout: ClusterEvent = { resource: '*', action: '*', label: 'UnschedulableTimeout' };
/** A plugin, or a user, wants one pod to be tried again. */
export const forceActivate: ClusterEvent = { resource: '*', action: '*', label: 'ForceActivate' };

export const assignedPodAdd: ClusterEvent = { resource: 'Pod', action: 'Add', label: 'AssignedPodAdd' };
export const assignedPodDelete: ClusterEvent = { resource: 'Pod', action: 'Delete', label: 'AssignedPodDelete' };
export const nodeAdd: ClusterEvent = { resource: 'Node', action: 'Add', label: 'NodeAdd' };
export const nodeDelete: ClusterEvent = { resource: 'Node', action: 'Delete', label: 'NodeDelete' };

/** True for an event that is not of one kind of object: every pod, or one that the event names, is tried again. */
export function isWildcard({ resource, action }: ClusterEvent): boolean {
  return resource === '*' && action === '*';
}

/**
 * True where a plugin that has registered `registered` is to be asked about the event. `Update` registers every kind of update; an event of
 * the kind `Update`, which is none of the finer kinds, is only for those who registered just that.
 */
export function isRegistered(
  { resource, actions }: Pick<ClusterEventWithHint, 'actions'> & { readonly resource: string },
  event: ClusterEvent,
): boolean {
  if (resource === '*' && actions.includes('*')) return true;
  if (isWildcard(event) || (resource !== '*' && resource !== event.resource)) return false;
  return (
    actions.includes('*') || actions.includes(event.action) || (actions.includes('Update') && event.action.startsWith('Update'))
  );
}

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
  if (!isDeepStrictEqual(generatedClaims(old), generatedClaims(now))) actions.push('UpdatePodGeneratedResourceClaim');
  if (actions.length === 0) actions.push('Update');
  return actions.map((action) => ({ resource: 'Pod', action, label: `${prefix}Pod${action}` }));
}

/** The names of the claims that were made for the pod, in their order. */
function generatedClaims({ status }: WirePod): readonly (readonly [string, string | null])[] {
  return (status?.resourceClaimStatuses ?? []).map(({ name, resourceClaimName }) => [name, resourceClaimName ?? null]);
}

function asksForLess(before: ResourceAmounts, after: ResourceAmounts): boolean {
  if (before.milliCPU > after.milliCPU || before.memory > after.memory) return true;
  if (before.ephemeralStorage > after.ephemeralStorage) return true;
  for (const [name, amount] of before.scalar) if (amount > (after.scalar.get(name) ?? 0)) return true;
  return false;
}
