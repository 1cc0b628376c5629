import type { WireLease } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { type FleetNames, idOf, isHeldByMember, memberMarks, memberOfLease, roleOf, shardOfLease } from './lease-documents.ts';
import type { SeenLeases } from './seen-leases.ts';

export interface MembersOptions {
  readonly names: FleetNames;
  readonly id: string;
  readonly identity: string;
  readonly seen: SeenLeases;
  readonly clock: SteadyClock;
}

/** A member, as its Lease was seen last. */
export interface SeenMember {
  readonly id: string;
  readonly isSelf: boolean;
  readonly isAlive: boolean;
  readonly isLeaving: boolean;
  readonly agent: string | undefined;
  /** How many shards it counts with. */
  readonly shards: number | undefined;
  /** When its Lease runs out, by `clock.elapsed()`. */
  readonly runsOutAt: number;
  /** When its Lease was last seen to change, in milliseconds since the epoch. */
  readonly seenAt: number;
}

/** So many Leases of members that are gone are removed in one step. */
const mostRemoved = 10;

/** Who is in the fleet. A member is alive until its Lease has not changed for its duration, as this process's clock counts it. */
export class Members {
  readonly #options: MembersOptions;

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  /**
   * Every member that holds its Lease, which names its number of shards, sorted by id. This one is alive while it has one: what it may do, the
   * Leases of its shards say. `now`: as of when, by `clock.elapsed()`.
   */
  all(now = this.#options.clock.elapsed()): SeenMember[] {
    const { names, id: ownID, identity, seen } = this.#options;
    const members: SeenMember[] = [];
    for (const { observed, seenAt } of seen.all()) {
      const { lease, runsOutAt, holder } = observed;
      const id = lease && memberOfLease(names, lease);
      const marks = memberMarks(lease);
      if (id === undefined || marks.shards === undefined || !isHeldByMember(lease, id)) continue;
      const isSelf = id === ownID && holder === identity;
      members.push({ ...marks, id, isSelf, isAlive: isSelf || now < runsOutAt, runsOutAt, seenAt });
    }
    return members.toSorted((one, two) => (one.id < two.id ? -1 : 1));
  }

  /** Those of `all` that may own shards. */
  living(all: readonly SeenMember[] = this.all()): SeenMember[] {
    const { shards } = this.#options.names;
    return all.filter((member) => member.isAlive && !member.isLeaving && member.shards === shards);
  }

  /** The other members that are alive and count with another number of shards. */
  countingElse(): SeenMember[] {
    const { shards } = this.#options.names;
    return this.all().filter((member) => member.isAlive && !member.isSelf && member.shards !== shards);
  }

  /** The ids of those that hold a shard and are not known to count with this number of shards: it may be another one. */
  strangers(): string[] {
    const { names, identity, seen, clock } = this.#options;
    const now = clock.elapsed();
    const holders = new Set<string>();
    const known = new Set([identity]);
    for (const { observed } of seen.all()) {
      const { lease, holder, runsOutAt } = observed;
      if (lease === undefined || holder === '') continue;
      const id = memberOfLease(names, lease);
      if (id === undefined) {
        if (shardOfLease(names, lease) !== undefined && now < runsOutAt) holders.add(holder);
      } else if (isHeldByMember(lease, id) && memberMarks(lease).shards === names.shards) known.add(holder);
    }
    return [...holders].filter((holder) => !known.has(holder)).map(idOf);
  }

  /** The Leases of members that have run out: so many at once as a member may remove. */
  leftLeases(): WireLease[] {
    const { names, id, seen, clock } = this.#options;
    const now = clock.elapsed();
    const leases: WireLease[] = [];
    for (const { observed } of seen.all()) {
      const { lease, runsOutAt } = observed;
      if (lease === undefined || runsOutAt > now || roleOf(lease) !== 'member') continue;
      const member = memberOfLease(names, lease);
      if (member !== undefined && member !== id && leases.length < mostRemoved) leases.push(lease);
    }
    return leases;
  }

  /** The Leases with the name of a member's that name no number of shards, or are held by another, and have not run out: nobody counts with them. */
  unclear(): string[] {
    const { names, id, seen, clock } = this.#options;
    const now = clock.elapsed();
    const unclear: string[] = [];
    for (const { observed } of seen.all()) {
      const { lease, runsOutAt } = observed;
      const member = lease && memberOfLease(names, lease);
      if (member === undefined || member === id || runsOutAt <= now) continue;
      if (memberMarks(lease).shards === undefined || !isHeldByMember(lease, member)) unclear.push(lease?.metadata?.name ?? '');
    }
    return unclear.toSorted();
  }

  /** When the next of the living members of `all` runs out, by `clock.elapsed()`. */
  nextRunOutAt(all: readonly SeenMember[]): number {
    const { clock } = this.#options;
    const now = clock.elapsed();
    let next = Number.POSITIVE_INFINITY;
    for (const { isSelf, runsOutAt } of all) if (!isSelf && runsOutAt > now) next = Math.min(next, runsOutAt);
    return next;
  }
}
