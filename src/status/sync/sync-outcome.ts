import type { ErrorClass } from '../../client/resources/error-class.ts';
import type { VersionedPodStatus } from '../cache/pod-statuses.ts';
import type { ApiPod } from './api-copies.ts';
import type { RequestFailure } from './request-failure.ts';
import type { WaitOnCopy } from './wait.ts';

/** A version of a pod's status is on the apiserver. */
export interface Acknowledged {
  readonly kind: 'acknowledged';
  readonly entry: VersionedPodStatus;
  /** The pod as the apiserver has it now. */
  readonly copy: ApiPod;
  /** The terminal phase stays here until no container could run any more. */
  readonly phaseHeldBack: boolean;
  /** True when the version made a PATCH necessary. */
  readonly patched: boolean;
}

/** How a pod's sync ended otherwise. */
export type SyncOutcome =
  | { readonly kind: 'done' | 'no-mirror-pod' | 'deleted' | 'recreated' }
  /** `resourceVersion` is that of the copy the request was made for: another one seen since may be another pod. */
  | { readonly kind: 'gone'; readonly version: number; readonly resourceVersion: string | undefined }
  | { readonly kind: 'deleting'; readonly resourceVersion: string }
  /** The pod was read again, and is still the copy that it waits on. */
  | { readonly kind: 'waits-on'; readonly wait: WaitOnCopy; readonly version: number }
  /** `resourceVersion` is that of the copy the request was made for. */
  | {
      /** `invalid`: the apiserver refused the status twice, the second time against a copy that was just read. */
      readonly kind: 'invalid' | 'failed';
      readonly failure: RequestFailure;
      readonly version: number;
      readonly resourceVersion: string | undefined;
      /** True where that copy was being deleted already. */
      readonly copyIsDeleting?: boolean;
    };

export interface SyncFailure {
  readonly errorClass: ErrorClass;
  readonly error: unknown;
  /** Failures of this pod in a row. */
  readonly attempts: number;
  /** Undefined when only a new status or another API copy brings the next try. */
  readonly retryInMs: number | undefined;
}

/** What follows from something that has happened to a pod. The sync worker carries it out, in order. */
export type SyncEffect =
  /** The pod is to be sent as soon as there is a slot. */
  | { readonly kind: 'send'; readonly podUID: string }
  /** The pod may have a version that the apiserver has not. */
  | { readonly kind: 'hint'; readonly podUID: string }
  /** The pod manager has told of a change of the pod that is to be looked at. */
  | { readonly kind: 'look'; readonly podUID: string }
  /** The pod's backoff is over after this long. */
  | { readonly kind: 'retry'; readonly podUID: string; readonly afterMs: number }
  /** Nothing of any pod is sent for this long. */
  | { readonly kind: 'pause'; readonly forMs: number }
  | { readonly kind: 'acknowledged'; readonly podUID: string; readonly acknowledged: Acknowledged }
  | { readonly kind: 'failed'; readonly podUID: string; readonly failure: SyncFailure }
  /** The apiserver has another pod of this name, or has deleted ours: the entry is to be dropped. */
  | { readonly kind: 'ended'; readonly podUID: string; readonly how: 'recreated' | 'deleted' }
  /** Something has changed that a flush may wait for. */
  | { readonly kind: 'changed'; readonly podUID: string };

/** True for an effect that sends something, now or later: a worker that was stopped leaves it. */
export function isWork({ kind }: SyncEffect): boolean {
  return kind === 'send' || kind === 'hint' || kind === 'look' || kind === 'retry' || kind === 'pause';
}
