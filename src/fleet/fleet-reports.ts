import type { RunStateName } from '../base/concurrency/run-state.ts';
import type { Problem, ProblemReport } from '../base/problem.ts';
import type { ProviderNodeSnapshot } from '../node/provider/provider-node-reports.ts';

/**
 * What this member does with a shard: `elsewhere` (another member owns it), `free` (nobody does), `unknown` (this process does not
 * hear of the Leases), `acquiring`, `owned`, `handingOver`
 * (its nodes end here in peace) and `lost` (the Lease ran out, and what still runs here is being ended).
 */
export type FleetShardState = 'elsewhere' | 'free' | 'unknown' | 'acquiring' | 'owned' | 'handingOver' | 'lost';

/** A process of the fleet, as this member sees it. */
export interface FleetMemberReport {
  /** The member's id. */
  readonly id: string;
  /** True for the member that reports. */
  readonly isSelf: boolean;
  /** True while its Lease has not run out. While this process does not hear of the Leases: as it was when it heard of them last. */
  readonly isAlive: boolean;
  /** True once it has said that it leaves: it takes no shard any more, and hands over those that it has. */
  readonly isLeaving: boolean;
  /** The process and its host, as the member has written them; undefined where its Lease says nothing. */
  readonly agent: string | undefined;
  /** How many shards it owns. */
  readonly shards: number;
  /** When its Lease was last seen to change, in milliseconds since the epoch. */
  readonly seenAt: number;
}

/** A shard, as this member sees it. */
export interface FleetShardReport {
  /** Its number, from 0. */
  readonly shard: number;
  /** What this member does with it. */
  readonly state: FleetShardState;
  /** The id of the member that owns it; undefined while nobody does. */
  readonly owner: string | undefined;
  /** The id of the member that is to own it, by the members that are alive; undefined where there is none. */
  readonly placedOn: string | undefined;
  /** Since when it is in this state, in milliseconds since the epoch. */
  readonly since: number;
  /** How many nodes of the fleet fall into it. */
  readonly nodes: number;
}

/**
 * What this member does with a node: `starting`, `running`, `failed` (its start failed, and is tried again), `stopping`, `elsewhere`
 * (another member owns its shard), `unowned` (nobody does) and `unknown` (the fleet has no node of this name).
 */
export type FleetNodeState = 'starting' | 'running' | 'failed' | 'stopping' | 'elsewhere' | 'unowned' | 'unknown';

/** Where a node is, and why. It can be turned into JSON. */
export interface FleetNodeReport {
  /** The name of the node. */
  readonly nodeName: string;
  /** The shard that its name falls into, also where the fleet has no such node. */
  readonly shard: number;
  /** What this member does with it. */
  readonly state: FleetNodeState;
  /** The id of the member that owns its shard; undefined while nobody does. */
  readonly owner: string | undefined;
  /** Since when it is so, in milliseconds since the epoch. */
  readonly since: number;
  /** Of one that is `stopping`: since when its provider's `release` has been under way, in milliseconds since the epoch. */
  readonly releasingSince: number | undefined;
}

/** Who owns a node, since when, and why it is not here. It can be turned into JSON. */
export interface FleetNodeExplanation extends FleetNodeReport {
  /** Why it is as it is, as one sentence. */
  readonly why: string;
  /** What is wrong with the node in this process; undefined when all is well, and where it is elsewhere. */
  readonly problem: Problem | undefined;
  /** The node itself, without its pods; undefined where this member does not run it. */
  readonly node: ProviderNodeSnapshot | undefined;
}

/** How many nodes this member knows, and what it does with them. */
export interface FleetNodeCounts {
  /** Nodes of the whole fleet. */
  readonly known: number;
  /** Nodes that this member owns, in any state. */
  readonly here: number;
  /** Nodes that start here. */
  readonly starting: number;
  /** Nodes that run here. */
  readonly running: number;
  /** Nodes whose start has failed, and is tried again. */
  readonly failed: number;
  /** Nodes that end here. */
  readonly stopping: number;
}

/** How a fleet is, as one of its members sees it. It can be turned into JSON. */
export interface FleetSnapshot extends ProblemReport {
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
  /** `idle`, `running`, `stopping` or `stopped`. */
  readonly state: RunStateName;
  /** The name of the fleet. */
  readonly name: string;
  /** The id of this member. */
  readonly id: string;
  /** True while this process takes shards: it is a member, does not stop, and the fleet has as many shards as this process was told. */
  readonly isMember: boolean;
  /**
   * Since when this process has not heard of the Leases, in milliseconds since the epoch, as after a stop: members are told as it saw them
   * last, and shards that have no owner as `unknown`. Undefined while it hears of them, and before it was started. A watch that brings not
   * even the own renewals counts once it has not for `leaseDurationMs`.
   */
  readonly unheardSince: number | undefined;
  /** Every member that has a Lease, sorted by id. */
  readonly members: readonly FleetMemberReport[];
  /** Every shard, by number. */
  readonly shards: readonly FleetShardReport[];
  /** How many shards are on their way to or from this member. */
  readonly moving: number;
  /** How many nodes there are, and what this member does with them. */
  readonly nodeCounts: FleetNodeCounts;
  /** The nodes of the fleet, sorted by name; empty with `nodes: false`. */
  readonly nodes: readonly FleetNodeReport[];
}

/** How much a snapshot shows. */
export interface FleetSnapshotOptions {
  /** False leaves out the nodes, which are most of the work. Default true. */
  readonly nodes?: boolean;
}

/** How long a stop may take. */
export interface StopFleetOptions {
  /** How long the whole stop may take, in milliseconds. Default 25 000: Kubernetes kills a process after 30 seconds. */
  readonly timeoutMs?: number;
}

/** What a stop has come to. */
export interface StoppedFleet {
  /** Shards whose nodes have ended in peace and whose Lease was given up: another member takes them at once. */
  readonly handedOver: number;
  /** Shards whose Lease must run out first: it could not be given up, or their nodes had not ended in time. */
  readonly leftToRunOut: number;
}
