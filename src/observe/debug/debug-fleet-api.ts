import type { DebugFleetHead, DebugProblem } from './debug-api.ts';

// What the debug handler answers of a fleet as JSON. All times are milliseconds since the epoch.

/** A process of the fleet. */
export interface DebugFleetMember {
  /** The member's id. */
  readonly id: string;
  /** True for the member that answers. */
  readonly isSelf: boolean;
  /** True while its Lease has not run out. */
  readonly isAlive: boolean;
  /** True once it has said that it leaves. */
  readonly isLeaving: boolean;
  /** The process and its host, as the member has written them; undefined where it has written nothing. */
  readonly agent: string | undefined;
  /** How many shards it owns. */
  readonly shards: number;
  /** How many nodes fall into them. */
  readonly nodes: number;
  /** When its Lease was last seen to change; undefined where that is not known. */
  readonly seenAt: number | undefined;
}

/** One row of the table of nodes. */
export interface DebugFleetNodeRow {
  /** The name of the node. */
  readonly nodeName: string;
  /** The shard that the name falls into; -1 where that is not known. */
  readonly shard: number;
  /** What the answering member does with it: `running`, `starting`, `failed`, `stopping`, `elsewhere`, `unowned`, `unknown`. */
  readonly state: string;
  /** The id of the member that owns its shard; undefined while nobody does. */
  readonly owner: string | undefined;
  /** Since when it is so; undefined where that is not known. */
  readonly since: number | undefined;
  /** True while the node starts or ends here, or its shard comes or goes. */
  readonly isMoving: boolean;
  /** Why it is as it is, as one sentence; empty where the fleet does not say. */
  readonly why: string;
  /** What is wrong with the node; left out while all is well. */
  readonly problem?: DebugProblem | undefined;
}

/** How many shards each member has owned, over the last five minutes. */
export interface DebugFleetHistory {
  /** The times of the looks, oldest first. */
  readonly at: readonly number[];
  /** Who has owned a shard at one of these times, the members of now first; at most 64. */
  readonly members: readonly DebugFleetHistoryMember[];
}

/** One member's part of the history. */
export interface DebugFleetHistoryMember {
  /** The member's id. */
  readonly id: string;
  /** A small number that this member alone has, and keeps: what it is drawn with. From 0. */
  readonly slot: number;
  /** How many shards it owned at each of the times; 0 where it was not there. */
  readonly shards: readonly number[];
}

/**
 * `GET api/fleet`. 404 where the handler was made without a fleet. Of the nodes it shows so many as `count` says (100, at most 500), from
 * the one with the number `from` on, of those that `filter` (words), `state`, `owner` and `trouble` leave, in the order of `sort`.
 */
export interface DebugFleet extends DebugFleetHead {
  /** When the fleet was asked. */
  readonly at: number;
  /** The id of the answering member. */
  readonly id: string;
  /** Whether it takes shards; undefined where it does not say. */
  readonly isMember: boolean | undefined;
  /** Those that are alive first, then by id. At most 1000. */
  readonly allMembers: readonly DebugFleetMember[];
  /** How many shards the fleet has. */
  readonly shards: number;
  /** How many of them nobody owns. */
  readonly unowned: number;
  /** How many come to the answering member, or go from it. */
  readonly moving: number;
  /** How many nodes there are in each state, as the answering member sees them. */
  readonly byState: Readonly<Record<string, number>>;
  /** What is wrong. At most 100. */
  readonly problems: readonly DebugProblem[];
  /** Who had how many shards when. */
  readonly history: DebugFleetHistory;
  /** How many nodes the fleet has. */
  readonly known: number;
  /** How many of them pass the filter. */
  readonly matching: number;
  /** The number of the first one of `nodes` among those that pass, from 0. */
  readonly from: number;
  /** The nodes that were asked for. */
  readonly nodes: readonly DebugFleetNodeRow[];
}

/** `GET api/fleet/nodes/NAME`. */
export interface DebugFleetNode {
  /** When the fleet was asked. */
  readonly at: number;
  /** The node's row. Its problem is what is wrong. */
  readonly row: DebugFleetNodeRow;
  /** What the node says of itself where it runs in the answering process, as lines of a name and a value. */
  readonly lines: readonly (readonly [name: string, value: string])[];
}
