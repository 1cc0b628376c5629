import { idOf } from './lease-documents.ts';
import type { ShardKeeper } from './shard-keeper.ts';

/** How long a member is waited for that is to take a shard, or to start its nodes. */
const patienceMs = 5000;
/** Where several members have shards for the same one, each waits for those before it: so long after that one had its last shard. */
const waitInLineMs = 500;

export type SeenShard = Pick<ShardKeeper, 'isHandingOver' | 'holder' | 'isUnsettled'>;

/** What the turns go by. */
export interface ShardsOnTheirWay {
  /** By `clock.elapsed()`. */
  readonly now: number;
  readonly shards: readonly SeenShard[];
  /** The member that is to own the shard. */
  readonly placedOn: (shard: number) => string | undefined;
  /** The members that leave: their shards go before those of others. */
  readonly leaving: ReadonlySet<string>;
}

/** A member that is to get shards. */
interface Receiver {
  /** Until when it is at work on a shard, as far as is seen. */
  busyUntil: number;
  /** Who has shards for it. */
  readonly givers: Set<string>;
}

/**
 * When this member may hand a shard over to another. A node is served by nobody from the end of one owner to the start of the next: so a
 * member that gets shards gets one after the other, the next one once the nodes of the one before run there. All of it is read from the
 * Leases of the shards, which every member watches.
 */
export class HandOverTurns {
  readonly #id: string;
  /** The time of the last look. Questions that come after it are answered as of then. */
  #now = Number.NEGATIVE_INFINITY;
  #receivers: ReadonlyMap<string, Receiver> = new Map();
  /** Since when a receiver is at work on no shard, while somebody has one for it. */
  readonly #idleSince = new Map<string, number>();
  /** Since when a member is at work on a shard, and which. */
  readonly #works = new Map<number, { readonly what: string; readonly since: number }>();
  #before = (_receiver: Receiver): number => 0;

  constructor(id: string) {
    this.#id = id;
  }

  look(fleet: ShardsOnTheirWay): void {
    const { now, leaving } = fleet;
    this.#now = now;
    this.#receivers = this.#receiversOf(fleet);
    for (const [id, { busyUntil, givers }] of this.#receivers) {
      if (busyUntil > now || givers.size === 0) this.#idleSince.delete(id);
      else if (!this.#idleSince.has(id)) this.#idleSince.set(id, now);
    }
    for (const id of this.#idleSince.keys()) if (!this.#receivers.has(id)) this.#idleSince.delete(id);
    const isBefore = (id: string): boolean => (leaving.has(id) === leaving.has(this.#id) ? id < this.#id : leaving.has(id));
    this.#before = ({ givers }) => [...givers].filter(isBefore).length;
  }

  /** When a shard may be handed over to this member, by `clock.elapsed()`: at the time of the look or before, or later. */
  turnAt(receiver: string | undefined): number {
    const seen = receiver === undefined ? undefined : this.#receivers.get(receiver);
    if (receiver === undefined || receiver === this.#id || seen === undefined) return Number.NEGATIVE_INFINITY;
    if (seen.busyUntil > this.#now) return seen.busyUntil;
    return (this.#idleSince.get(receiver) ?? this.#now) + this.#before(seen) * waitInLineMs;
  }

  /** The next time at which a turn of this member comes, unless something is seen before. */
  get nextTurnAt(): number {
    const turns = [...this.#receivers].filter(([, { givers }]) => givers.has(this.#id)).map(([id]) => this.turnAt(id));
    return Math.min(...turns.filter((at) => at > this.#now));
  }

  /** A shard goes to this member. */
  begun(receiver: string | undefined): void {
    const seen = receiver === undefined ? undefined : this.#receivers.get(receiver);
    if (seen !== undefined) seen.busyUntil = Number.POSITIVE_INFINITY;
  }

  #receiversOf({ shards, placedOn }: ShardsOnTheirWay): Map<string, Receiver> {
    const receivers = new Map<string, Receiver>();
    const receiver = (id: string): Receiver => {
      const known = receivers.get(id) ?? { busyUntil: Number.NEGATIVE_INFINITY, givers: new Set() };
      receivers.set(id, known);
      return known;
    };
    const isAtWork = (id: string, until: number): void => {
      const known = receiver(id);
      known.busyUntil = Math.max(known.busyUntil, until);
    };
    for (const [shard, { isHandingOver, holder, isUnsettled }] of shards.entries()) {
      const owner = holder === undefined ? undefined : idOf(holder);
      const next = placedOn(shard);
      const worker = owner ?? next;
      const since = this.#workedSince(shard, isUnsettled ? `${worker} ${owner}` : undefined);
      if (isHandingOver && next !== undefined) isAtWork(next, Number.POSITIVE_INFINITY);
      else if (worker !== undefined) isAtWork(worker, since + patienceMs);
      if (owner !== undefined && next !== undefined && next !== owner) receiver(next).givers.add(owner);
    }
    return receivers;
  }

  /** Since when the same is done with the shard; longest ago for nothing. */
  #workedSince(shard: number, what: string | undefined): number {
    const before = this.#works.get(shard);
    if (what === undefined) this.#works.delete(shard);
    else if (before?.what !== what) this.#works.set(shard, { what, since: this.#now });
    return this.#works.get(shard)?.since ?? Number.NEGATIVE_INFINITY;
  }
}
