import { callGuarded, ignoreFailure } from '../seams/guard.ts';
import type { Pod } from '../wire/types.ts';

/** `Normal`: for information. `Warning`: something may have gone wrong. */
export type EventType = 'Normal' | 'Warning';

/** Writes an event about a pod, as client-go's recorder does. It never waits, and what it throws or rejects with is ignored. */
export interface EventRecorder {
  /** `fieldPath` names the part of the pod that is meant, such as `spec.containers{web}`; absent: the whole pod. */
  event(pod: Pod, type: EventType, reason: string, message: string, fieldPath?: string): void;
}

/** Writes nothing. */
export const noEvents: EventRecorder = { event: () => {} };

/** The same recorder with its failures ignored. */
export function safeEventRecorder(recorder: EventRecorder): EventRecorder {
  return {
    event: (...args) => {
      callGuarded(() => recorder.event(...args), ignoreFailure);
    },
  };
}
