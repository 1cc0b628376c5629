import { compareResourceVersions } from '../../api/json/resource-version.ts';
import type { Moment } from './api-copies.ts';

/** Why a pod that is not on the apiserver as it should be is not being sent right now. */
export type Wait =
  /** A request failed; the pod is tried again at `retryAt`. An overloaded server gets no newer version before that either. */
  | { readonly kind: 'backoff'; readonly version: number; readonly retryAt: number; readonly overloaded: boolean }
  /** The apiserver refused this version of the status against this copy of the pod. */
  | { readonly kind: 'quarantined'; readonly version: number; readonly resourceVersion: string | undefined }
  /** The apiserver knows no such pod; `resourceVersion` is that of the copy we had. */
  | { readonly kind: 'gone'; readonly version: number; readonly resourceVersion: string | undefined }
  /** The DELETE was accepted, and finalizers hold the object. `since`: when the answer came. */
  | { readonly kind: 'deleting'; readonly resourceVersion: string; readonly since: Moment };

/** A wait that ends when the apiserver's copy of the pod is another one: see {@link isStillSo}. */
export type WaitOnCopy = Wait & { readonly kind: 'quarantined' | 'deleting' };

export function isWaitOnCopy(wait: Wait): wait is WaitOnCopy {
  return wait.kind === 'quarantined' || wait.kind === 'deleting';
}

/** True when this copy is the one that the pod waits on: nothing has happened to it. */
export function isStillSo({ resourceVersion }: WaitOnCopy, copy: string | undefined): boolean {
  return copy !== undefined && copy === resourceVersion;
}

/** True when this version of the status may be sent although the pod waits: it is newer than the one that waits. */
export function mayTry(wait: Wait | undefined, version: number): boolean {
  switch (wait?.kind) {
    case 'backoff':
      return version > wait.version && !wait.overloaded;
    case 'gone':
    case 'quarantined':
      return version > wait.version;
    default:
      return true;
  }
}

/**
 * True when the apiserver's copy, or its absence, no longer is what the pod waits for. `wasListed`: the pod source has delivered
 * a full list since the wait began. An older version in it means that etcd was restored from a backup, where the pod is not deleted.
 */
export function isOvertaken(wait: Wait | undefined, resourceVersion: string | undefined, wasListed = false): boolean {
  switch (wait?.kind) {
    case 'gone':
    case 'quarantined':
      return resourceVersion !== undefined && resourceVersion !== wait.resourceVersion;
    case 'deleting':
      // until the pod source has caught up, the copy is the one from before the DELETE
      if (resourceVersion === undefined || resourceVersion === wait.resourceVersion) return false;
      return wasListed || (compareResourceVersions(resourceVersion, wait.resourceVersion) ?? 1) > 0;
    default:
      return false;
  }
}
