import type { ClusterEventWithHint, EventAction, EventResource } from '../framework/cluster-event.ts';

/** A change in the cluster that may help pods which wait. */
export interface ClusterEvent {
  readonly resource: EventResource;
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
export function isRegistered({ resource, actions }: ClusterEventWithHint, event: ClusterEvent): boolean {
  if (resource === '*' && actions.includes('*')) return true;
  if (isWildcard(event) || (resource !== '*' && resource !== event.resource)) return false;
  return (
    actions.includes('*') || actions.includes(event.action) || (actions.includes('Update') && event.action.startsWith('Update'))
  );
}
