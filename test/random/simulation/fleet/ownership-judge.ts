import type { WireLease } from '../../../../src/api/json/types.ts';
import type { FleetFound } from './fleet-rules.ts';
import type { Creation } from './pod-states.ts';
import type { WriteGuard } from './shard-nodes.ts';

/** What the judge knows of a member. */
export interface JudgedMember {
  readonly id: string;
  /** True while the process lives and is not paused. */
  readonly isAwake: boolean;
  readonly isDead: boolean;
  /** False where something of the shard runs in the process. */
  readonly hasEnded: (shard: number) => boolean;
}

export interface OwnershipJudgeParts {
  readonly shards: number;
  readonly found: FleetFound;
  readonly nowMs: () => number;
  /** The Lease of the shard on the server. */
  readonly leaseOf: (shard: number) => WireLease | undefined;
  readonly count: (what: string) => void;
}

interface JudgedTerm {
  readonly member: JudgedMember;
  readonly guard: WriteGuard;
  /** Looks since the last renewal at which the member was awake, the term was over, and something of the shard ran. */
  overrunLooks: number;
  deadlineMs: number;
}

const termsKept = 6;
/**
 * Looks are a second apart. A wall clock that was set forward keeps writes back and ends nothing: the nodes end once the renewal has failed
 * for the ten seconds of its deadline.
 */
const mostOverrunLooks = 12;

/** Judges who may write, by the server's Leases and by true time. */
export class OwnershipJudge {
  readonly #parts: OwnershipJudgeParts;
  readonly #terms: JudgedTerm[][];

  constructor(parts: OwnershipJudgeParts) {
    this.#parts = parts;
    this.#terms = Array.from({ length: parts.shards }, () => []);
  }

  /** A member was told that the shard is its own. */
  gained(member: JudgedMember, shard: number, guard: WriteGuard): void {
    const terms = this.#terms[shard];
    if (terms === undefined) {
      this.#parts.found('the number of shards is that of the fleet', `${member.id} has gained shard ${shard}`);
      return;
    }
    terms.push({ member, guard, overrunLooks: 0, deadlineMs: guard.deadlineMs });
    if (terms.length > termsKept) terms.shift();
    if (guard.isOwned) this.#judgeOwner('what a member gains is its own on the server', member, shard);
    this.#judgeAlone(member, shard, guard);
  }

  /** A write has passed its guard and leaves the process. */
  sent(member: JudgedMember, shard: number, guard: WriteGuard): void {
    this.#judgeOwner('a write is sent only by the member that the Lease names', member, shard);
    this.#judgeAlone(member, shard, guard);
  }

  /** The server has taken a status. One that its client has given up counts for its version alone: it was sent in its time. */
  taken(member: JudgedMember, shard: number, version: { before: number; now: number }, isLate: boolean): void {
    const { found, count } = this.#parts;
    if (version.now <= version.before)
      found('no status goes back', `${member.id} writes ${version.now} after ${version.before}, in shard ${shard}`);
    if (!isLate) this.#judgeOwner('a write that arrives in time is of the member that the Lease names', member, shard);
    else if (!holds(this.#parts.leaseOf(shard), member.id)) count('write of an earlier owner taken long after it was given up');
  }

  /** The cloud has got a creation. Where one has come late, neither its client nor the next one could know of it. */
  created(member: JudgedMember, shard: number, creation: { pod: number; what: Creation }, isLate: boolean): void {
    const { found, count } = this.#parts;
    const { pod, what } = creation;
    count(what === 'first' ? 'pod created' : `pod created: ${what}`);
    if (what === 'doubled')
      found('no pod is created twice', `${member.id} creates pod ${pod} of shard ${shard}, which runs already`);
    if (!isLate) this.#judgeOwner('a write that arrives in time is of the member that the Lease names', member, shard);
  }

  /** The server has another holder than before. `before` may live no more. */
  holderChanged(shard: number, before: JudgedMember | undefined): void {
    if (before === undefined || before.isDead || before.hasEnded(shard)) return;
    const { found, leaseOf } = this.#parts;
    const holder = leaseOf(shard)?.spec?.holderIdentity ?? '';
    if (holder === '')
      found('a shard is given up only when nothing of it runs', `${before.id} gives up shard ${shard}, which runs there`);
  }

  /** To be called once a second. */
  look(): void {
    this.#terms.forEach((terms, shard) => {
      for (const term of terms) this.#lookAtEnd(term, shard, terms.at(-1) === term);
    });
  }

  #lookAtEnd(term: JudgedTerm, shard: number, isLast: boolean): void {
    const { member, guard } = term;
    const isRenewed = guard.deadlineMs !== term.deadlineMs;
    if (isRenewed || !member.isAwake || guard.isOwned || member.hasEnded(shard) || !isLast) {
      term.deadlineMs = guard.deadlineMs;
      term.overrunLooks = 0;
      return;
    }
    term.overrunLooks++;
    if (term.overrunLooks >= mostOverrunLooks)
      this.#parts.found('what is lost runs no more', `${member.id} has lost shard ${shard}, and its nodes go on`);
  }

  #judgeOwner(rule: Parameters<FleetFound>[0], member: JudgedMember, shard: number): void {
    const lease = this.#parts.leaseOf(shard);
    if (holds(lease, member.id)) return;
    const holder = lease === undefined ? 'there is no Lease' : `the Lease names "${lease.spec?.holderIdentity ?? ''}"`;
    this.#parts.found(rule, `${member.id}, shard ${shard}: ${holder}`);
  }

  #judgeAlone(member: JudgedMember, shard: number, guard: WriteGuard): void {
    if (!guard.isOwned) return;
    for (const other of this.#terms[shard] ?? []) {
      if (other.guard === guard || other.member.isDead || !other.guard.isOwned) continue;
      this.#parts.found(
        'no two members may write for one shard at one moment',
        `${member.id} and ${other.member.id}, shard ${shard}`,
      );
    }
  }
}

/** The holder is the id, or the id with what tells its processes apart. */
export function holds(lease: WireLease | undefined, id: string): boolean {
  const holder = lease?.spec?.holderIdentity ?? '';
  return holder === id || holder.startsWith(`${id}_`);
}
