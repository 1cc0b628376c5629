import type { WirePod } from '../../api/json/types.ts';
import type { JsonMembers } from '../../client/transport/api-answer.ts';

/** What changed. */
export type EventResource =
  | 'Pod'
  | 'Node'
  | 'Namespace'
  | 'Service'
  | 'PersistentVolume'
  | 'PersistentVolumeClaim'
  | 'StorageClass'
  | 'CSINode'
  | 'ResourceClaim'
  | '*';

/** How it changed. */
export type EventAction =
  | 'Add'
  | 'Delete'
  | 'UpdateNodeAllocatable'
  | 'UpdateNodeLabel'
  | 'UpdateNodeTaint'
  | 'UpdateNodeCondition'
  | 'UpdateNodeAnnotation'
  | 'UpdatePodLabel'
  | 'UpdatePodScaleDown'
  | 'UpdatePodToleration'
  | 'UpdatePodSchedulingGatesEliminated'
  | 'Update'
  | '*';

/** `Queue`: the change may help the pod, which is tried again. `Skip`: it cannot. */
export type QueueingHint = 'Queue' | 'Skip';

/** A kind of change that may make a pod schedulable that a plugin rejected. */
export interface ClusterEventWithHint {
  /** What changes; `*` for every resource. */
  readonly resource: EventResource;
  /** How it changes; one of these is enough. `*` for every change. */
  readonly actions: readonly EventAction[];
  /**
   * Whether this change may help this pod. Without it every change of the kind does. `before` is undefined for what was
   * added, `after` for what was deleted. A hint that throws counts as `Queue`.
   */
  readonly hint?: (pod: WirePod, before: JsonMembers | undefined, after: JsonMembers | undefined) => QueueingHint;
}
