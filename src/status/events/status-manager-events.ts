import type { V1PodStatus } from '@kubernetes/client-node';
import type { ErrorClass } from '../../client/error-class.ts';
import type { Pod } from '../../wire/types.ts';

/** A status was stored. */
export interface PodUpdatedEvent {
  readonly podUID: string;
  /** A frozen copy of the pod as the agent gave it, with the new status; made when it is first read. */
  readonly pod: Pod;
  /** The new status, frozen; made when it is first read. */
  readonly status: V1PodStatus;
  /** True for the first status of a pod that is not being deleted. */
  readonly isAdded: boolean;
}

/** The status of a finished pod was stored. The pod's object may still be on the apiserver. */
export interface PodRemovedEvent {
  readonly podUID: string;
  /** A frozen copy of the pod as the agent gave it, with its last status; made when it is first read. */
  readonly pod: Pod;
  /** The last status, frozen; made when it is first read. */
  readonly status: V1PodStatus;
}

/** The newest version of a pod's status is on the apiserver. */
export interface SyncedEvent {
  readonly podUID: string;
  readonly podName: string;
  readonly podNamespace: string;
  readonly version: number;
  /** False when the apiserver said the same already. */
  readonly patched: boolean;
}

/** A request for a pod failed, or its pod could not be synced. */
export interface SyncErrorEvent {
  readonly podUID: string;
  readonly podName: string | undefined;
  readonly podNamespace: string | undefined;
  readonly errorClass: ErrorClass;
  readonly error: unknown;
  /** Failures of this pod in a row. */
  readonly attempts: number;
  /** Undefined when only a new status or another API copy brings the next try. */
  readonly retryInMs: number | undefined;
}

/** A status was refused: its container states cannot follow the cached ones. */
export interface IllegalTransitionEvent {
  /** A frozen copy of the pod as the agent gave it; made when it is first read. */
  readonly pod: Pod;
  readonly podUID: string;
  /** The rule that forbids the status. */
  readonly reason: string;
}

/** What a StatusManager emits. A listener that throws or rejects is logged, and the others are still called; there is no `error` event. */
export interface StatusManagerEvents {
  podUpdated: [PodUpdatedEvent];
  podRemoved: [PodRemovedEvent];
  synced: [SyncedEvent];
  syncError: [SyncErrorEvent];
  illegalTransition: [IllegalTransitionEvent];
}

export const statusManagerEventNames = ['podUpdated', 'podRemoved', 'synced', 'syncError', 'illegalTransition'] as const;
