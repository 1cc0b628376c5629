import type { SteadyClock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { FleetLeaseClient } from './fleet-lease-client.ts';
import type { FleetNames } from './lease-documents.ts';
import type { SeenLeases } from './seen-leases.ts';
import type { ShardTerm } from './shard-term.ts';

/** What runs the nodes of the shards. */
export interface ShardHost {
  /**
   * The shard is this member's from now on; `term.requireOwned` is to be asked before each write. What it returns settles once the nodes
   * run, or are not to be waited for any longer.
   */
  gained(shard: number, term: ShardTerm): Promise<void> | void;
  /** Ends the nodes of the shard in peace, and writes what is left. The term goes on meanwhile, unless `lost` is called. */
  handOver(shard: number): Promise<void>;
  /** The term is over: nothing may be written any more. Resolves once nothing of the shard runs here. */
  lost(shard: number): Promise<void>;
}

/** How long Leases last, and how often they are renewed and tried for; all in milliseconds. */
export interface FleetTiming {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly renewEveryMs: number;
  readonly retryPeriodMs: number;
}

export interface ShardKeeperOptions {
  readonly shard: number;
  readonly names: FleetNames;
  readonly id: string;
  /** Who holds the Leases of this member: see `identityOf`. */
  readonly identity: string;
  readonly timing: FleetTiming;
  readonly leases: FleetLeaseClient;
  readonly seen: SeenLeases;
  readonly host: ShardHost;
  readonly clock: SteadyClock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Something has come to an end: a look is due. */
  readonly wake: () => void;
}

/** What a look goes by. */
export interface ShardOutlook {
  /** The members that are alive, in the order in which they are to own the shard. */
  readonly line: readonly string[];
  /** Since when this member may take shards, by `clock.elapsed()`; undefined while it may not, and gives up those that it has. */
  readonly takesSince: number | undefined;
  /** True once every shard of the fleet has had a Lease: one that is missing was deleted then, and its owner may not know it yet. */
  readonly areAllTaken: boolean;
  /** When the last beat began, by `clock.elapsed()`: a Lease that was renewed before is due. */
  readonly beatAt: number;
  /** False while the others may have counted this member as gone: nothing is taken or renewed until it knows. */
  readonly isSure: boolean;
  /** True while one more shard may be handed over. */
  readonly mayHandOver: boolean;
}

/** How the terms of a shard have ended here. */
export interface EndedTerms {
  handedOver: number;
  lost: number;
}
