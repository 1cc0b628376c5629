import type { V1PodStatus } from '@kubernetes/client-node';
import type { JsonObject, Pod, WirePodStatus } from '../../api/json/types.ts';
import { changesBetween, type PathChange } from '../../api/patch/json-patch.ts';
import { frozenCopy } from '../canonical/frozen-copy.ts';
import type { IllegalTransitionEvent, PodRemovedEvent, PodUpdatedEvent } from './status-manager-events.ts';

/** One version of a pod's status. */
interface StatusVersion {
  readonly version: number;
  readonly status: WirePodStatus;
  /** The same, typed and frozen; made when it is first read. */
  readonly view: V1PodStatus;
}

/** A status that was stored: whose, what it is, and what it follows. */
export interface StoredStatus {
  readonly podUID: string;
  /** As the agent gave it. */
  readonly pod: Pod;
  readonly entry: StatusVersion;
  readonly previous: WirePodStatus;
}

export function podUpdatedEvent(stored: StoredStatus, isAdded: boolean): PodUpdatedEvent {
  return Object.freeze(Object.assign(podEvent(stored), { isAdded }));
}

export function podRemovedEvent(stored: StoredStatus): PodRemovedEvent {
  return Object.freeze(podEvent(stored));
}

export function illegalTransitionEvent(podUID: string, pod: Pod, reason: string): IllegalTransitionEvent {
  let copy: Pod | undefined;
  return Object.freeze({
    podUID,
    reason,
    get pod() {
      copy ??= frozenCopy(pod);
      return copy;
    },
  });
}

/** The copy of the pod carries the new status, as upstream's notifications do. */
function podEvent({ podUID, pod, entry, previous }: StoredStatus): PodRemovedEvent {
  let copy: Pod | undefined;
  let changes: readonly PathChange[] | undefined;
  return {
    podUID,
    version: entry.version,
    get pod() {
      if (copy === undefined) {
        const { status: _, ...rest } = pod;
        copy = Object.freeze({ ...frozenCopy<Pod>(rest), status: entry.view });
      }
      return copy;
    },
    get status() {
      return entry.view;
    },
    get changes() {
      changes ??= frozenCopy(changesBetween(previous as JsonObject, entry.status as unknown as JsonObject));
      return changes;
    },
  };
}
