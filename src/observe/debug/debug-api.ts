import type { Problem } from '../../base/problem.ts';
import type { ErrorClass } from '../../client/resources/error-class.ts';
import type { PodSyncPhase } from '../../status/sync/sync-phase.ts';

// What the debug handler answers as JSON, and what its page reads. All times are milliseconds since the epoch. A member whose
// value is undefined is left out of the JSON.

/** One thing that is wrong, with the pod where it is a pod's. */
export interface DebugProblem extends Problem {
  /** The pod's uid; left out where the problem is no pod's. */
  readonly podUID?: string;
  /** The pod's namespace; empty where it is not known. */
  readonly podNamespace?: string;
  /** The pod's name; empty where it is not known. */
  readonly podName?: string;
}

/** One line of what is wrong as a whole: a problem that is no pod's, or all problems of one kind that pods have. */
export interface DebugNote extends DebugProblem {
  /** Whose it is: the panel with this name, or the pod's own, says more. */
  readonly of: 'manager' | 'node' | 'scheduler' | 'fleet';
  /** How many pods have a problem of this kind: `podUID` is the one that has had it longest. 0 where the problem is no pod's. */
  readonly pods: number;
}

/** A call that has not settled. */
export interface DebugCall {
  /** What was called, such as `createPod`. */
  readonly method: string;
  /** When it was called. */
  readonly since: number;
}

/** One row of the table of pods. */
export interface DebugPodRow {
  /** The uid of the pod. */
  readonly podUID: string;
  /** The namespace of the pod. */
  readonly namespace: string;
  /** The name of the pod. */
  readonly name: string;
  /** The pod's own phase, as the newest status says it. */
  readonly phase: string | undefined;
  /** True where the newest status has the condition `Ready` with the status `True`. */
  readonly ready: boolean;
  /** Restarts of all containers together, init and ephemeral containers left out. */
  readonly restarts: number;
  /** Where the newest status stands on its way to the apiserver. */
  readonly sync: PodSyncPhase;
  /** The number of the newest status. */
  readonly version: number;
  /** The version that the apiserver took last; 0 for none. */
  readonly acknowledgedVersion: number;
  /** Failures in a row; 0 once a request has succeeded. */
  readonly attempt: number;
  /** True for a static pod. */
  readonly isStatic: boolean;
  /** True where the pod has a deletionTimestamp, as the pod manager or the last status says. */
  readonly isDeleting: boolean;
  /** When the newest version was set; for a pod without a status, since when it has none. */
  readonly changedAt: number;
  /** What is wrong with the pod: of several things the one to begin with. Left out while all is well. */
  readonly problem?: Problem | undefined;
  /** The call of the node's provider that has been under way for a while: no problem, but why the pod waits. */
  readonly underWay?: DebugCall | undefined;
  /** Who tells of the pod, where the manager has no status of it. */
  readonly knownBy?: 'node' | 'manager' | 'scheduler' | 'fleet' | undefined;
}

/** One second of traffic. */
export interface DebugTraffic {
  /** The start of the second. */
  readonly at: number;
  /** Patches of a status that were sent in this second. */
  readonly patches: number;
  /** Reads of a pod that were sent in this second. */
  readonly gets: number;
  /** Deletions of a pod that were sent in this second. */
  readonly deletes: number;
  /** Requests of this second that failed, whatever the verb. */
  readonly failed: number;
  /** Versions that were acknowledged in this second. */
  readonly synced: number;
  /** From set to acknowledged, in milliseconds, of the versions of this second; undefined when there is none. */
  readonly delayP50Ms: number | undefined;
  /** The same for the slowest hundredth. */
  readonly delayP99Ms: number | undefined;
}

/** The head of the page: the manager and, where there is one, the node. */
export interface DebugSummary {
  /** The time of the summary. */
  readonly at: number;
  /** The run state of the manager: `idle`, `running`, `stopping`, `stopped`; `none` where the handler was made without one. */
  readonly state: string;
  /** How many pods have a row. */
  readonly pods: number;
  /** How many of them have a problem. */
  readonly inTrouble: number;
  /** How many problems are no pod's, by whose they are: each counts once, the node's first. One without any is left out. */
  readonly ownProblems: Readonly<Partial<Record<DebugNote['of'], number>>>;
  /** What is wrong as a whole, the problems of no pod first. At most 20. Empty when all is well. */
  readonly notes: readonly DebugNote[];
  /** How many pods stand at each place on the way to the apiserver. A place without pods may be left out. */
  readonly bySync: Readonly<Partial<Record<PodSyncPhase, number>>>;
  /** How many pods have each phase. */
  readonly byPhase: Readonly<Record<string, number>>;
  /** Requests that have not settled: those on their way, and those that were given up. */
  readonly inFlight: number;
  /** How many hints wait in the channel. */
  readonly channelDepth: number;
  /** How many hints the channel holds at most. */
  readonly channelCapacity: number;
  /** Hints that were dropped because the channel was full. Their pods are found by a scan. */
  readonly channelDropped?: number;
  /** How long the oldest version that the apiserver does not have is waiting, in milliseconds; undefined when there is none. */
  readonly oldestUnsentMs: number | undefined;
  /** When the pause of the whole client ends; undefined while there is none. */
  readonly pausedUntil: number | undefined;
  /** The node; undefined where the handler was made without one. */
  readonly node: DebugNode | undefined;
  /** The scheduler; undefined where the handler was made without one. */
  readonly scheduler: DebugScheduler | undefined;
  /** The fleet; left out where the handler was made without one. */
  readonly fleet?: DebugFleetHead | undefined;
}

/** The node as the head of the page shows it. */
export interface DebugNode {
  /** The name of the node; empty where the node did not tell it. */
  readonly name: string;
  /** The run state of the node; `unknown` where it gives no answer. */
  readonly state: string;
  /** True where the node reports itself ready; left out for an agent that reports no node. */
  readonly ready?: boolean | undefined;
  /**
   * While something is wrong with the node itself: when the apiserver last took a renewal of its Lease. What it has been told since may
   * not be there. Of an agent without a Node object: when the agent last heard of the apiserver. What has become of the pods since, it
   * may not know. Left out where all is well, or where the node does not say.
   */
  readonly heardAt?: number | undefined;
  /** True where the apiserver has the Node object; left out for an agent that registers none. */
  readonly registered?: boolean | undefined;
  /** True once the pods of the node were listed; left out where the node does not say. */
  readonly hasListed?: boolean | undefined;
  /** In words: what the node waits for, or what last went wrong; empty when all is well. At most 20. */
  readonly notes: readonly string[];
  /** How many problems the node has, those of its pods counted in. */
  readonly problemCount: number;
}

/** The scheduler as the head of the page shows it. */
export interface DebugScheduler {
  /** The run state of the scheduler; `unknown` where it gives no answer. */
  readonly state: string;
  /** In words: what it waits for, or what last went wrong; empty when all is well. At most 20. */
  readonly notes: readonly string[];
  /** How many problems it has, those of its pods counted in. */
  readonly problemCount: number;
}

/** The fleet as the head of the page shows it. */
export interface DebugFleetHead {
  /** The name of the fleet. */
  readonly name: string;
  /** The run state of this member; `unknown` where it gives no answer. */
  readonly state: string;
  /** How many members are alive, this one included. */
  readonly members: number;
  /** How many problems this member has. */
  readonly problemCount: number;
}

/** `GET api/node` and `GET api/scheduler`. 404 where the handler was made without one. */
export interface DebugPart {
  /** When it was asked. */
  readonly at: number;
  /** Which of the two it is. */
  readonly kind: 'node' | 'scheduler';
  /** The name of the node; empty for a scheduler. */
  readonly name: string;
  /** The run state; `unknown` where no answer came. */
  readonly state: string;
  /** What is wrong, with the problems of no pod first. At most 100. */
  readonly problems: readonly DebugProblem[];
  /** How many problems there are. */
  readonly problemCount: number;
  /** All else that it says of itself, as lines of a name and a value; nested names are joined by dots. */
  readonly lines: readonly (readonly [name: string, value: string])[];
}

/** `GET api/snapshot`. */
export interface DebugSnapshot {
  /** The head of the page. */
  readonly summary: DebugSummary;
  /** Oldest first; at most five minutes. A second in which nothing happened is left out. */
  readonly traffic: readonly DebugTraffic[];
  /** One row for each pod. */
  readonly pods: readonly DebugPodRow[];
}

/**
 * The data of an event `changes` of the stream `GET api/changes`: what has changed since the event before. The stream begins with
 * an event `snapshot`, whose data is a {@link DebugSnapshot}; another one follows when the client has read too slowly, and takes
 * the place of everything before it. At least every 15 seconds there is an event. A row may come again though nothing changed.
 */
export interface DebugChanges {
  /** The head of the page, as it is now. */
  readonly summary: DebugSummary;
  /** The seconds that are new or not over. */
  readonly traffic: readonly DebugTraffic[];
  /** Rows that are new or have changed. */
  readonly changed: readonly DebugPodRow[];
  /** The uids of the pods whose rows are gone. */
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

/** One event in the past of a pod. `kind` says which; `at` is its time. */
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
      readonly attempt: number;
      readonly retryInMs: number | undefined;
    }
  /** The transition rules forbid a status: it was not stored. */
  | { readonly kind: 'refused'; readonly at: number; readonly reason: string }
  /** The status stored before this entry is the last one: nothing of the pod runs any more. */
  | { readonly kind: 'removed'; readonly at: number };

/** `GET api/pods/UID`. 404 for a pod of which nobody knows anything, the history neither. */
export interface DebugPod {
  /** When it was asked about. */
  readonly at: number;
  /** The row of the pod in the table. Its problem is the one to begin with. */
  readonly row: DebugPodRow;
  /** What is wrong beside the problem of the row. At most 9. */
  readonly otherProblems: readonly Problem[];
  /** One sentence: why the newest status is, or is not, on the apiserver. */
  readonly reason: string;
  /** JSON pointers into the status: what a patch against the freshest known copy of the apiserver would change. */
  readonly differs: readonly string[];
  /** When the next try is due; undefined unless the pod backs off, or the whole client waits. */
  readonly retryAt: number | undefined;
  /** What the node says of the pod, as lines of a name and a value; empty without a node. */
  readonly node: readonly (readonly [name: string, value: string])[];
  /** What the scheduler says of the pod, in words; undefined without a scheduler, and where it does not know the pod. */
  readonly scheduler: string | undefined;
  /** Oldest first, by the end of what it tells of. Old entries are dropped: `droppedEntries` counts them. */
  readonly timeline: readonly DebugTimelineEntry[];
  /** How many old entries of the timeline were dropped. */
  readonly droppedEntries: number;
  /** The newest status. */
  readonly status: unknown;
}
