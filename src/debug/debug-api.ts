import type { ErrorClass } from '../client/error-class.ts';
import type { PodSyncPhase } from '../status/sync/sync-phase.ts';

// What the debug handler answers as JSON, and what its page reads. All times are milliseconds since the epoch. A member whose
// value is undefined is left out of the JSON.

/** One row of the table of pods. */
export interface DebugPodRow {
  readonly podUID: string;
  readonly namespace: string;
  readonly name: string;
  /** The pod's own phase, as the newest status says it. */
  readonly phase: string | undefined;
  readonly ready: boolean;
  readonly restarts: number;
  /** Where the newest status stands on its way to the apiserver. */
  readonly sync: PodSyncPhase;
  readonly version: number;
  readonly acknowledgedVersion: number;
  readonly failures: number;
  readonly isStatic: boolean;
  readonly isDeleting: boolean;
  /** When the newest version was set. */
  readonly changedAt: number;
}

/** One second of traffic. */
export interface DebugTraffic {
  /** The start of the second. */
  readonly at: number;
  readonly patches: number;
  readonly gets: number;
  readonly deletes: number;
  /** Requests of this second that failed, whatever the verb. */
  readonly failed: number;
  /** Versions that were acknowledged in this second. */
  readonly synced: number;
  /** From set to acknowledged, in milliseconds, of the versions of this second; undefined when there is none. */
  readonly delayP50Ms: number | undefined;
  readonly delayP99Ms: number | undefined;
}

/** The head of the page: the manager and, where there is one, the node. */
export interface DebugSummary {
  readonly at: number;
  readonly state: string;
  readonly pods: number;
  readonly bySync: Readonly<Partial<Record<PodSyncPhase, number>>>;
  readonly byPhase: Readonly<Record<string, number>>;
  readonly inFlight: number;
  readonly channelDepth: number;
  readonly channelCapacity: number;
  /** Hints that were dropped because the channel was full. Their pods are found by a scan. */
  readonly channelDropped?: number;
  /** How long the oldest version that the apiserver does not have is waiting, in milliseconds; undefined when there is none. */
  readonly oldestUnsentMs: number | undefined;
  readonly pausedUntil: number | undefined;
  readonly node: DebugNode | undefined;
}

export interface DebugNode {
  readonly name: string;
  readonly state: string;
  readonly ready: boolean;
  readonly registered: boolean;
  /** In words: what the node waits for, or what last went wrong; empty when all is well. */
  readonly notes: readonly string[];
}

/** `GET api/snapshot`. */
export interface DebugSnapshot {
  readonly summary: DebugSummary;
  /** Oldest first; at most five minutes. A second in which nothing happened is left out. */
  readonly traffic: readonly DebugTraffic[];
  readonly pods: readonly DebugPodRow[];
}

/**
 * The data of an event `changes` of the stream `GET api/changes`: what has changed since the event before. The stream begins with
 * an event `snapshot`, whose data is a {@link DebugSnapshot}; another one follows when the client has read too slowly, and takes
 * the place of everything before it. At least every 15 seconds there is an event. A row may come again though nothing changed.
 */
export interface DebugChanges {
  readonly summary: DebugSummary;
  /** The seconds that are new or not over. */
  readonly traffic: readonly DebugTraffic[];
  readonly changed: readonly DebugPodRow[];
  readonly removed: readonly string[];
}

/** A member of the status that has changed. */
export interface DebugPathChange {
  /** A JSON pointer into the status. */
  readonly path: string;
  /** What the element of the list on the path is called: a condition's type, a container's name. */
  readonly element?: string | undefined;
  /** Undefined for one that was not there. */
  readonly before: unknown;
  /** Undefined for one that is gone. */
  readonly after: unknown;
}

export type DebugTimelineEntry =
  | {
      /** A status was stored. */
      readonly kind: 'set';
      readonly at: number;
      readonly version: number | undefined;
      readonly changes: readonly DebugPathChange[];
    }
  | {
      /** A request has ended, or was given up. */
      readonly kind: 'request';
      /** When it was sent. */
      readonly at: number;
      readonly verb: 'get' | 'patch' | 'delete';
      readonly result: 'ok' | ErrorClass;
      readonly durationMs: number;
      /** What was on the wire: a patch's body. Where that was too long to keep, a sentence says so. */
      readonly body: unknown;
      readonly bytes: number | undefined;
      readonly message: string | undefined;
    }
  | {
      readonly kind: 'synced';
      readonly at: number;
      readonly version: number;
      readonly patched: boolean;
      readonly delayMs: number;
    }
  | {
      readonly kind: 'error';
      readonly at: number;
      readonly errorClass: ErrorClass;
      readonly message: string;
      readonly attempts: number;
      readonly retryInMs: number | undefined;
    }
  /** The transition rules forbid a status: it was not stored. */
  | { readonly kind: 'refused'; readonly at: number; readonly reason: string }
  /** The status stored before this entry is the last one: nothing of the pod runs any more. */
  | { readonly kind: 'removed'; readonly at: number };

/** `GET api/pods/UID`. 404 for a pod of which neither the manager nor the history knows anything. */
export interface DebugPod {
  readonly row: DebugPodRow;
  /** One sentence: why the newest status is, or is not, on the apiserver. */
  readonly reason: string;
  readonly differs: readonly string[];
  readonly retryAt: number | undefined;
  /** What the node says of the pod, as lines of a name and a value; empty without a node. */
  readonly node: readonly (readonly [name: string, value: string])[];
  /** Oldest first, by the end of what it tells of. Old entries are dropped: `droppedEntries` counts them. */
  readonly timeline: readonly DebugTimelineEntry[];
  readonly droppedEntries: number;
  /** The newest status. */
  readonly status: unknown;
}
