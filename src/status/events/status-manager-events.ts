import type { V1PodStatus } from '@kubernetes/client-node';
import type { ErrorClass } from '../client/error-class.ts';
import type { Pod } from '../wire/types.ts';

export interface PodUpdatedEvent {
  readonly pod: Pod;
  /** Frozen; made when first read. */
  readonly status: V1PodStatus;
  /** True for the first status of a pod that is not being deleted. */
  readonly isAdded: boolean;
}

/** A finished status was stored. The pod's object may still be there. */
export interface PodRemovedEvent {
  readonly pod: Pod;
}

export interface SyncedEvent {
  readonly podUID: string;
  readonly podName: string;
  readonly podNamespace: string;
  readonly version: number;
  /** False when the apiserver said the same already. */
  readonly patched: boolean;
}

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

export interface IllegalTransitionEvent {
  readonly pod: Pod;
  readonly podUID: string;
  /** The rule that forbids the status. */
  readonly reason: string;
}

/** What a StatusManager emits. A listener that throws harms nobody; there is no `error` event. */
export interface StatusManagerEvents {
  podUpdated: [PodUpdatedEvent];
  podRemoved: [PodRemovedEvent];
  synced: [SyncedEvent];
  syncError: [SyncErrorEvent];
  illegalTransition: [IllegalTransitionEvent];
}

/** The event; its status is made when a listener first reads it. */
export function podUpdatedEvent(pod: Pod, entry: { readonly view: V1PodStatus }, isAdded: boolean): PodUpdatedEvent {
  return {
    pod,
    isAdded,
    get status() {
      return entry.view;
    },
  };
}
