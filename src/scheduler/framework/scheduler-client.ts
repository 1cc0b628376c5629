import type { WirePod, WirePodCondition } from '../../api/json/types.ts';
import type { ApiObject, ApiResource } from '../../client/resources/api-resource.ts';

/** What is to change in a pod's status. */
export interface PodStatusChange {
  /** Put in the place of the condition of its type. Its times are the client's to fill in. */
  readonly condition?: Pick<WirePodCondition, 'type' | 'status' | 'reason' | 'message'>;
  /** An empty text clears it. */
  readonly nominatedNodeName?: string;
  /** The claim that gives the pod its extended resources. */
  readonly extendedResourceClaimStatus?: NonNullable<NonNullable<WirePod['status']>['extendedResourceClaimStatus']>;
}

/** What the scheduler tells people of a pod. */
export interface SchedulingEvent {
  /** The pod that it is about. */
  readonly pod: WirePod;
  /** The other pod that it is about, such as the one that preempts. */
  readonly related?: WirePod;
  /** `Warning` where something failed. */
  readonly type: 'Normal' | 'Warning';
  /** `Scheduled`, `FailedScheduling`, `Preempted`. */
  readonly reason: string;
  /** `Binding`, `Scheduling`, `Preempting`. */
  readonly action: string;
  /** What happened, in a sentence for people. */
  readonly note: string;
}

/**
 * What the scheduler writes to the cluster. Every method that takes a signal settles soon after it aborts. All of them name
 * the pod's uid, so that a pod that was created again under the name is never meant.
 */
export interface SchedulerClient {
  /** Resolves only once the pod is on this node, by this request or by one whose answer was lost. Rejects otherwise. */
  bind(pod: WirePod, nodeName: string, signal: AbortSignal): Promise<void>;
  /** A pod that is gone, or another one by now, is no failure. */
  patchStatus(pod: WirePod, change: PodStatusChange, signal: AbortSignal): Promise<void>;
  /** Deletes a victim with its own grace period. A pod that is gone, or another one by now, is no failure. */
  deletePod(pod: WirePod, signal: AbortSignal): Promise<void>;
  /**
   * Merges a patch (RFC 7386) into an object, if the server has the version that is given and no other, and resolves to the object after
   * it. Rejects otherwise. Without it no volume is bound.
   */
  patchObject?<T extends ApiObject>(resource: ApiResource<T>, object: T, patch: object, signal: AbortSignal): Promise<T>;
  /** The same for the object's status alone. Without it no claim of devices is given any. */
  patchObjectStatus?<T extends ApiObject>(resource: ApiResource<T>, object: T, patch: object, signal: AbortSignal): Promise<T>;
  /** The object of this name as the server has it now. Rejects where there is none. Without it no claim of devices is given any. */
  getObject?<T extends ApiObject>(resource: ApiResource<T>, object: T, signal: AbortSignal): Promise<T>;
  /**
   * Makes an object, to which the server gives a name where it has a `generateName` alone, and resolves to it. Rejects otherwise. Without it, and
   * without `deleteObject` and `patchStatus`, no pod gets extended resources as devices.
   */
  createObject?<T extends ApiObject>(resource: ApiResource<T>, object: T, signal: AbortSignal): Promise<T>;
  /** Deletes the object. One that is gone, or another one by now, is no failure. */
  deleteObject?<T extends ApiObject>(resource: ApiResource<T>, object: T, signal: AbortSignal): Promise<void>;
  /** Never waits and never throws. */
  event(event: SchedulingEvent): void;
}
