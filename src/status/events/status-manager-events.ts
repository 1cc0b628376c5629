import type { V1PodStatus } from '@kubernetes/client-node';
import type { Json, JsonObject, Pod, WirePodStatus } from '../../api/json/types.ts';
import { changesBetween, type PathChange } from '../../api/patch/json-patch.ts';
import type { ErrorClass } from '../../client/resources/error-class.ts';
import { frozenCopy } from '../canonical/canonical-json.ts';

/** A status was stored. */
export interface PodUpdatedEvent {
  /** The pod's uid; for a mirror pod its static pod's. */
  readonly podUID: string;
  /** A frozen copy of the pod as the agent gave it, with the new status; made when it is first read. */
  readonly pod: Pod;
  /** The new status, frozen; made when it is first read. */
  readonly status: V1PodStatus;
  /** The number of the new status among those of this pod. */
  readonly version: number;
  /**
   * What differs from the status before, frozen; computed when it is first read. Before the first one stands the status of the
   * pod as the agent gave it, or of its mirror pod. Empty for a status that was stored though it says the same.
   */
  readonly changes: readonly PathChange[];
  /** True for the first status of a pod that is not being deleted. */
  readonly isAdded: boolean;
}

/** The status of a finished pod was stored. The pod's object may still be on the apiserver. */
export interface PodRemovedEvent {
  /** The pod's uid; for a mirror pod its static pod's. */
  readonly podUID: string;
  /** A frozen copy of the pod as the agent gave it, with its last status; made when it is first read. */
  readonly pod: Pod;
  /** The last status, frozen; made when it is first read. */
  readonly status: V1PodStatus;
  /** The number of the last status among those of this pod. */
  readonly version: number;
  /** What differs from the status before, frozen; computed when it is first read. See {@link PodUpdatedEvent.changes}. */
  readonly changes: readonly PathChange[];
}

/** The newest version of a pod's status is on the apiserver. */
export interface SyncedEvent {
  /** The pod's uid; for a mirror pod its static pod's. */
  readonly podUID: string;
  /** The pod's name. */
  readonly podName: string;
  /** The pod's namespace. */
  readonly podNamespace: string;
  /** The version of the status, which grows by one with each change. */
  readonly version: number;
  /** False when the apiserver said the same already. */
  readonly patched: boolean;
  /** From the oldest change that the apiserver did not have until now, in milliseconds. */
  readonly delayMs: number;
}

/**
 * A request for a pod has ended, or was given up. Told only of requests that began while somebody listened; nothing is made
 * for this event otherwise.
 */
export interface RequestEvent {
  /** The pod's uid; for a mirror pod its static pod's. */
  readonly podUID: string;
  /** What was asked of the server. */
  readonly verb: 'get' | 'patch' | 'delete';
  /** How it ended. */
  readonly result: 'ok' | ErrorClass;
  /** The HTTP status of a refusal; undefined for a success, and when no answer came. */
  readonly status: number | undefined;
  /** What went wrong, at most 500 characters; undefined for a success. */
  readonly message: string | undefined;
  /** When the request was handed to the pod client, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Until the answer came or the request was given up, in milliseconds. */
  readonly durationMs: number;
  /** The body of a PATCH, frozen; made when it is first read. Undefined for a GET and a DELETE. */
  readonly body: unknown;
  /** How long the body is as JSON, in bytes; counted when it is first read. Undefined for a GET and a DELETE. */
  readonly bytes: number | undefined;
}

/** A request for a pod failed, or its pod could not be synced. */
export interface SyncErrorEvent {
  /** The pod's uid; for a mirror pod its static pod's. */
  readonly podUID: string;
  /** The pod's name; undefined where the pod manager has no such pod any more. */
  readonly podName: string | undefined;
  /** The pod's namespace; undefined where the pod manager has no such pod any more. */
  readonly podNamespace: string | undefined;
  /** What the failure means, and so what follows. */
  readonly errorClass: ErrorClass;
  /** What the pod client rejected with. */
  readonly error: unknown;
  /** Failures of this pod in a row. */
  readonly attempt: number;
  /** Undefined when only a new status or another API copy brings the next try. */
  readonly retryInMs: number | undefined;
}

/** A status was refused: its container states cannot follow the cached ones. */
export interface IllegalTransitionEvent {
  /** A frozen copy of the pod as the agent gave it; made when it is first read. */
  readonly pod: Pod;
  /** The pod's uid; for a mirror pod its static pod's. */
  readonly podUID: string;
  /** The rule that forbids the status. */
  readonly reason: string;
}

/**
 * What a StatusManager emits. A listener that throws or rejects is logged, and the others are still called; there is no `error`
 * event. Every listener is told of the events in the order in which they came about: what a listener brings about is told once
 * all listeners of the event before were called.
 */
export interface StatusManagerEvents {
  /** A status was stored. */
  podUpdated: [PodUpdatedEvent];
  /** The status of a finished pod was stored. */
  podRemoved: [PodRemovedEvent];
  /** The newest version of a pod's status is on the apiserver. */
  synced: [SyncedEvent];
  /** A request for a pod failed, or its pod could not be synced. */
  syncError: [SyncErrorEvent];
  /** A status was refused. */
  illegalTransition: [IllegalTransitionEvent];
  /** A request for a pod has ended. */
  request: [RequestEvent];
}

export const statusManagerEventNames = [
  'podUpdated',
  'podRemoved',
  'synced',
  'syncError',
  'illegalTransition',
  'request',
] as const;

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

export type Verb = 'get' | 'patch' | 'delete';

/** What a request is for. */
export interface RequestSubject {
  readonly verb: Verb;
  readonly podUID: string;
  /** The body of a PATCH. Never changed. */
  readonly body?: Json;
}

export type RequestTimes = Pick<RequestEvent, 'startedAt' | 'durationMs'>;

/** How a request ended, and how long it took. */
export type RequestEnd = Pick<RequestEvent, 'result' | 'status' | 'message'> & RequestTimes;

export function requestEvent({ verb, podUID, body }: RequestSubject, end: RequestEnd): RequestEvent {
  let copy: unknown;
  let length: number | undefined;
  return Object.freeze({
    podUID,
    verb,
    ...end,
    get body() {
      if (body !== undefined) copy ??= frozenCopy(body);
      return copy;
    },
    get bytes() {
      if (body !== undefined) length ??= Buffer.byteLength(JSON.stringify(body));
      return length;
    },
  });
}
