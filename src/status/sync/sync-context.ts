import { compareResourceVersions } from '../../api/json/resource-version.ts';
import type { Clock } from '../../base/clock.ts';
import type { EndedFailures } from '../../base/failure-run.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { ErrorClass } from '../../client/resources/error-class.ts';
import type { PodClient } from '../../client/resources/kube-pod-client.ts';
import type { PodStatusReader, VersionedPodStatus } from '../status-cache.ts';
import type { AgentView } from './agent-view.ts';
import type { ApiCopies, ApiPod } from './api-copies.ts';
import type { Moment } from './pod-source-view.ts';
import type { RequestFailure } from './request-failure.ts';
import type { GateToken, RequestGate } from './request-gate.ts';

/** What every sync works with. */
export interface SyncContext {
  readonly podClient: PodClient;
  readonly podStatuses: PodStatusReader;
  readonly agent: AgentView;
  readonly copies: ApiCopies;
  readonly gate: RequestGate;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly fetchBeforePatch: 'when-unknown' | 'always';
  readonly patchFormat: 'strategic' | 'json';
  readonly ownedConditionTypes: ReadonlySet<string>;
}

/** One pod, in one attempt to bring its newest status to the apiserver. */
export interface SyncAttempt {
  readonly podUID: string;
  readonly token: GateToken;
  /** Read the pod from the apiserver first, whatever is known of it. */
  readonly fetch: boolean;
  /** A PATCH may have changed the pod since the copy at hand: the pod is read before "no change" is believed. */
  readonly inDoubt: boolean;
  /** What the newest version waits on: unless the pod turns out to have changed, it goes on waiting. */
  readonly waitsOn: WaitOnCopy | undefined;
}

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
  readonly attempt: number;
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
  /** Requests of the pod succeed again after failures. */
  | { readonly kind: 'recovered'; readonly podUID: string; readonly ended: EndedFailures }
  /** The apiserver has another pod of this name, or has deleted ours: the entry is to be dropped. */
  | { readonly kind: 'ended'; readonly podUID: string; readonly how: 'recreated' | 'deleted' }
  /** Something has changed that a flush may wait for. */
  | { readonly kind: 'changed'; readonly podUID: string };

/** True for an effect that sends something, now or later: a worker that was stopped leaves it. */
export function isWork({ kind }: SyncEffect): boolean {
  return kind === 'send' || kind === 'hint' || kind === 'look' || kind === 'retry' || kind === 'pause';
}

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
