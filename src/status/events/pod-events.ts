import type { V1PodStatus } from '@kubernetes/client-node';
import type { Pod } from '../../wire/types.ts';
import { frozenCopy } from '../canonical/frozen-copy.ts';
import type { IllegalTransitionEvent, PodRemovedEvent, PodUpdatedEvent } from './status-manager-events.ts';

/** One version of a pod's status, typed and frozen; made when it is first read. */
interface StatusVersion {
  readonly view: V1PodStatus;
}

export function podUpdatedEvent(podUID: string, pod: Pod, version: StatusVersion, isAdded: boolean): PodUpdatedEvent {
  return Object.freeze(Object.assign(podEvent(podUID, pod, version), { isAdded }));
}

export function podRemovedEvent(podUID: string, pod: Pod, version: StatusVersion): PodRemovedEvent {
  return Object.freeze(podEvent(podUID, pod, version));
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
function podEvent(podUID: string, { status: _, ...rest }: Pod, version: StatusVersion): PodRemovedEvent {
  let copy: Pod | undefined;
  return {
    podUID,
    get pod() {
      copy ??= Object.freeze({ ...frozenCopy<Pod>(rest), status: version.view });
      return copy;
    },
    get status() {
      return version.view;
    },
  };
}
