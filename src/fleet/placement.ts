import { hash } from 'node:crypto';

/** How much more than its even share a member may have. */
const loadFactor = 1.25;

/** A number from 0 up to 2^48 that stays the same for a text, whoever asks and wherever. */
function hashOf(text: string): number {
  // the first 6 bytes
  return Number.parseInt(hash('sha256', text).slice(0, 12), 16);
}

/**
 * The shard that a node's name falls into, from 0. It depends on the name and on the number of shards alone.
 *
 * @example
 * ```ts
 * import { shardOf } from 'pod-status-manager/fleet';
 *
 * console.log(shardOf('edge-1', 64) === shardOf('edge-1', 64), shardOf('edge-1', 64) < 64); // true true
 * ```
 */
export function shardOf(nodeName: string, shards: number): number {
  return hashOf(nodeName) % shards;
}

/** For each shard the members in the order in which they are to own it: the first is the placed owner. */
export type Placement = readonly (readonly string[])[];

/** Shards are placed on so many members, the first by their ids: each pair of a member and a shard costs time. */
export const mostMembers = 256;

/** The weights of a member for the shards, by the number of the shard. They never change, and are costly to make. */
export class ShardWeights {
  readonly #shards: number;
  readonly #ofMembers = new Map<string, readonly number[]>();

  constructor(shards: number) {
    this.#shards = shards;
  }

  of(member: string): readonly number[] {
    const known = this.#ofMembers.get(member);
    if (known !== undefined) return known;
    const weights = Array.from({ length: this.#shards }, (_, shard) => hashOf(`${member}/${shard}`));
    this.#ofMembers.set(member, weights);
    return weights;
  }

  /** Forgets all members but these. */
  keep(members: readonly string[]): void {
    const kept = new Set(members);
    for (const member of this.#ofMembers.keys()) if (!kept.has(member)) this.#ofMembers.delete(member);
  }
}

/**
 * Rendezvous hashing with bounded loads: each shard goes to the member with the greatest weight that has room for it, shard after
 * shard. It depends on the set of members and on the number of shards alone, so that all members come to the same. A member that
 * comes or goes moves its own shards, and few of those that were kept out of another member by its bound.
 */
export function placementOf(members: readonly string[], shards: number, weights = new ShardWeights(shards)): Placement {
  const room = Math.ceil((shards / Math.max(1, members.length)) * loadFactor);
  const loads = new Map(members.map((member) => [member, 0]));
  const weighed = members.map((member) => ({ member, weights: weights.of(member) }));
  return Array.from({ length: shards }, (_, shard) => {
    const line = weighed.toSorted((one, two) => compared(one, two, shard)).map(({ member }) => member);
    const placed = line.find((member) => (loads.get(member) ?? 0) < room);
    if (placed === undefined) return line;
    loads.set(placed, (loads.get(placed) ?? 0) + 1);
    return [placed, ...line.filter((member) => member !== placed)];
  });
}

/** The heavier one first. Equal weights are next to impossible, and decided by the names. */
function compared(one: Weighed, two: Weighed, shard: number): number {
  const difference = (two.weights[shard] ?? 0) - (one.weights[shard] ?? 0);
  return difference === 0 ? Number(one.member > two.member) - Number(one.member < two.member) : difference;
}

interface Weighed {
  readonly member: string;
  readonly weights: readonly number[];
}
