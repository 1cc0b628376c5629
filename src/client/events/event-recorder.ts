import type { V1ObjectReference } from '@kubernetes/client-node';
import type { Pod, Wire } from '../../api/json/types.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';

/** `Normal`: for information. `Warning`: something may have gone wrong. */
export type EventType = 'Normal' | 'Warning';

/** Writes events, as client-go's recorder does. It never waits, and what it throws or rejects with is ignored. */
export interface EventRecorder {
  /**
   * About a pod. `fieldPath` names the part of it that is meant, such as `spec.containers{web}`; absent: the whole pod. `annotations`:
   * the same for programs; absent: none.
   */
  event(
    pod: Pod,
    type: EventType,
    reason: string,
    message: string,
    fieldPath?: string,
    annotations?: Readonly<Record<string, string>>,
  ): void;
  /** About a node. A recorder without this method writes none. */
  nodeEvent?(nodeName: string, type: EventType, reason: string, message: string): void;
}

/** Writes nothing. */
export const noEvents: EventRecorder = { event: () => {} };

/** The same recorder with its failures ignored. */
export function safeEventRecorder(recorder: EventRecorder): Required<EventRecorder> {
  return {
    event: (...args) => {
      callGuarded(() => recorder.event(...args), ignoreFailure);
    },
    nodeEvent: (...args) => {
      callGuarded(() => recorder.nodeEvent?.(...args), ignoreFailure);
    },
  };
}

/** A pod as an event names it. What the pod does not have is left out. */
export function podObjectReference({ metadata }: Pod): Wire<V1ObjectReference> {
  const { namespace, name, uid, resourceVersion } = metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}
