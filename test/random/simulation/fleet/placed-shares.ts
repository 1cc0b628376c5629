import { createHash } from 'node:crypto';

/** How many shards a member may have, whatever the hashes say. */
export function roomOf(shards: number, members: number): number {
  return members === 0 ? 0 : Math.ceil((1.25 * shards) / members);
}

/** The owner of each shard by the words of the design: the heaviest member that has room, shard by shard. */
export function placedShares(shards: number, members: readonly string[]): readonly string[] {
  const room = roomOf(shards, members.length);
  const loads = new Map<string, number>();
  const owners: string[] = [];
  for (let shard = 0; shard < shards; shard++) {
    const heaviest = members
      .filter((member) => (loads.get(member) ?? 0) < room)
      .map((member) => ({ member, weight: weightOf(`${member}/${shard}`) }))
      .sort((a, b) => b.weight - a.weight || (a.member < b.member ? -1 : 1))[0];
    if (heaviest === undefined) continue;
    loads.set(heaviest.member, (loads.get(heaviest.member) ?? 0) + 1);
    owners[shard] = heaviest.member;
  }
  return owners;
}

const weights = new Map<string, number>();

/** How much the shard is the member's, by `MEMBER/SHARD`. */
export function weightOf(text: string): number {
  let weight = weights.get(text);
  if (weight === undefined) {
    if (weights.size > 100_000) weights.clear();
    weight = createHash('sha256').update(text).digest().readUIntBE(0, 6);
    weights.set(text, weight);
  }
  return weight;
}
