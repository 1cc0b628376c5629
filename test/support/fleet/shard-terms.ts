import { createHash } from 'node:crypto';
import type { AuditedWrite } from './audit-log.ts';
import type { FleetRecord } from './fleet-record.ts';

/** The shard of a node: the first six bytes of its name's SHA-256, modulo the number of shards. Not the fleet's own code. */
export function shardOfNode(nodeName: string, shards: number): number {
  return createHash('sha256').update(nodeName).digest().readUIntBE(0, 6) % shards;
}

/** A version of a shard's Lease. The times are those of the write that made it, where an audit log has both. */
interface LeaseVersion {
  readonly revision: number;
  readonly holder: string;
  readonly receivedAt: number | undefined;
  readonly answeredAt: number | undefined;
}

/** When a member did something: from when the server had its request until it had answered. */
export interface Moment {
  readonly receivedAt: number;
  readonly answeredAt: number;
}

/** Who held which shard when: by the order of etcd, and where an act has no place in that, by what was answered before it began. */
export class ShardTerms {
  readonly #record: FleetRecord;
  readonly #versions = new Map<number, LeaseVersion[]>();

  /** `writesOf`: the accepted writes that made a version. */
  constructor(record: FleetRecord, writesOf: (revision: number) => readonly AuditedWrite[]) {
    this.#record = record;
    for (const version of record.versions) {
      if (version.kind !== 'shard lease') continue;
      const { shard, revision, holder } = version;
      const [write] = writesOf(revision);
      const { receivedAt, answeredAt } = write ?? {};
      this.#of(shard).push({ revision, holder, receivedAt, answeredAt });
    }
  }

  /** The member that held the node's shard when etcd took this revision; empty: nobody. */
  holderAtRevision(nodeName: string, revision: number): string {
    return this.#ofNode(nodeName).findLast((version) => version.revision < revision)?.holder ?? '';
  }

  /** The member that held it at a time, as far as answers tell. */
  holderAtTime(nodeName: string, at: number): string {
    return this.#ofNode(nodeName).findLast(({ answeredAt }) => answeredAt !== undefined && answeredAt <= at)?.holder ?? '';
  }

  /** Why an act of the member was not its own to do; undefined where it may have held the shard. */
  trespass(nodeName: string, member: string, act: Moment): string | undefined {
    const versions = this.#ofNode(nodeName);
    const before = versions.findLastIndex(({ answeredAt }) => answeredAt !== undefined && answeredAt < act.receivedAt);
    // what was taken meanwhile, or at a time that nobody knows, may have been the member's again
    const mayBe = versions.slice(before + 1).filter(({ receivedAt = 0 }) => receivedAt < act.answeredAt);
    if (mayBe.some(({ holder }) => holder === member)) return undefined;
    const holder = versions[before]?.holder ?? '';
    if (holder !== member) return holder === '' ? 'nobody held the shard' : `${holder} held the shard`;
    const lateMs = act.receivedAt - ((versions[before]?.answeredAt ?? 0) + this.#record.leaseDurationMs);
    return lateMs > 0 ? `its Lease had run out ${Math.round(lateMs)} ms before` : undefined;
  }

  #ofNode(nodeName: string): LeaseVersion[] {
    return this.#of(shardOfNode(nodeName, this.#record.shards));
  }

  #of(shard: number): LeaseVersion[] {
    const versions = this.#versions.get(shard) ?? [];
    this.#versions.set(shard, versions);
    return versions;
  }
}
