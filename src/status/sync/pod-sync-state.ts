import type { ErrorClass } from '../../client/error-class.ts';
import type { CancelTimer } from '../../seams/clock.ts';
import { compareResourceVersions } from '../../wire/resource-version.ts';

/** Why a pod that is not on the apiserver as it should be is not being sent right now. */
export type Wait =
  /** A failed request; tried again at `retryAt`. A server that is overloaded gets no newer version before that either. */
  | {
      readonly kind: 'backoff';
      readonly version: number;
      readonly retryAt: number;
      readonly overloaded: boolean;
      readonly cancel: CancelTimer;
    }
  /** The apiserver refused this version of the status against this copy of the pod. */
  | { readonly kind: 'quarantined'; readonly version: number; readonly resourceVersion: string | undefined }
  /** The apiserver knows no such pod; `resourceVersion` is that of the copy we had. */
  | { readonly kind: 'gone'; readonly version: number; readonly resourceVersion: string | undefined }
  /** DELETE was accepted, finalizers hold the object. */
  | { readonly kind: 'deleting'; readonly resourceVersion: string };

/** A wait that ends when the apiserver's copy of the pod is another one: see {@link isStillSo}. */
export type WaitOnCopy = Wait & { readonly kind: 'quarantined' | 'deleting' };

export function isWaitOnCopy(wait: Wait): wait is WaitOnCopy {
  return wait.kind === 'quarantined' || wait.kind === 'deleting';
}

/** True when this copy is the one the pod waits on: nothing has happened to it. */
export function isStillSo({ resourceVersion }: WaitOnCopy, copy: string | undefined): boolean {
  return copy !== undefined && copy === resourceVersion;
}

export interface LastError {
  readonly errorClass: ErrorClass;
  readonly message: string;
  readonly at: number;
}

/** What the worker remembers of one pod, beside its acknowledged version. Only the worker writes it. */
export class PodSyncState {
  inFlight = false;
  /** Grows when the pod's entry is dropped: what was in flight then speaks of another life of the pod. */
  life = 0;
  lifeInFlight = 0;
  /** The version that the sync in flight, or the last one, has dealt with. */
  attempted = 0;
  wait: Wait | undefined;
  /** Failures in a row. */
  failures = 0;
  lastError: LastError | undefined;
  /** The next sync reads the pod from the apiserver first. */
  fetch = false;
  /** A look was asked for while a sync was in flight. */
  again = false;
  /** Its wait was ended once by another pod's success; if it fails again, the fault is its own. */
  releasedBySuccess = false;
  /** The acknowledged version's terminal phase is not on the apiserver: containers could still run. */
  phaseHeldBack = false;

  endWait(): void {
    if (this.wait?.kind === 'backoff') this.wait.cancel();
    this.wait = undefined;
  }

  succeeded(): void {
    this.endWait();
    this.failures = 0;
    this.lastError = undefined;
    this.releasedBySuccess = false;
  }

  /** True when nothing here is worth remembering. */
  get isIdle(): boolean {
    return !this.inFlight && this.wait === undefined && this.failures === 0 && !this.fetch && !this.phaseHeldBack;
  }

  /** True when a version newer than the one that waits may be sent without more ado. */
  mayTry(version: number): boolean {
    switch (this.wait?.kind) {
      case 'backoff':
        return version > this.wait.version && !this.wait.overloaded;
      case 'gone':
      case 'quarantined':
        return version > this.wait.version;
      default:
        return true;
    }
  }

  /** True when the apiserver's copy, or its absence, no longer is what this pod waits for. */
  isOvertaken(resourceVersion: string | undefined): boolean {
    switch (this.wait?.kind) {
      case 'backoff':
        return false;
      case 'gone':
      case 'quarantined':
        return resourceVersion !== undefined && resourceVersion !== this.wait.resourceVersion;
      case 'deleting':
        // until the pod source has caught up, the copy is the one from before the DELETE
        return resourceVersion !== undefined && (compareResourceVersions(resourceVersion, this.wait.resourceVersion) ?? 1) > 0;
      default:
        return false;
    }
  }
}
