// Behaviour of pkg/scheduler/framework/plugins/dynamicresources/dra_manager.go, v1.36.3.
import { isOlderThan } from '../../../api/json/resource-version.ts';
import type { SteadyClock } from '../../../base/clock.ts';
import type { AllocatedDevices, ClaimAllocation, ResourceClaim } from '../../devices/device-types.ts';
import { DevicesOfClaims } from './devices-of-claims.ts';
import { claimKey } from './usable-claims.ts';

/** The claims as the watch has brought them. */
export interface WatchedClaims {
  get(namespace: string | undefined, name: string): ResourceClaim | undefined;
  list(): readonly ResourceClaim[];
  onChange(handler: (before: ResourceClaim | undefined, after: ResourceClaim | undefined) => void): void;
}

/** An allocation that is to be written. */
interface PendingAllocation {
  readonly claim: ResourceClaim;
  readonly allocation: ClaimAllocation;
  /** For whom; nobody else may give it back. */
  readonly owner: object;
  /** Its write has failed, and the server may have it all the same. */
  doubt?: WriteInDoubt;
}

interface WriteInDoubt {
  /** The claim in the version that the write named: what is newer shows whether it was done. */
  readonly named: ResourceClaim;
  /** By the clock's `elapsed`. */
  readonly untilMs: number;
}

/** A request is at the server no longer than this. */
const longestDoubtMs = 60_000;

/**
 * The claims of the cluster with what this scheduler has decided and written of them: an allocation counts from the moment in which it is
 * decided, and a claim that was written is seen so before the watch brings it. One for all profiles. It keeps the claims that pods
 * which are being bound have, and no others.
 */
export class ClaimTracker {
  readonly #watched: WatchedClaims;
  readonly #clock: Pick<SteadyClock, 'elapsed'>;
  readonly #taken = new DevicesOfClaims();
  /** By the claim's uid. */
  readonly #pending = new Map<string, PendingAllocation>();
  /** By the claim's key: newer than what the watch has brought. */
  readonly #written = new Map<string, ResourceClaim>();
  /** By the claim's uid, claims that the server has made and the watch has not brought: their keys, and how long they are believed in. */
  readonly #unseen = new Map<string, { readonly key: string; readonly untilMs: number }>();
  readonly #waiting = new Map<string, Set<() => void>>();
  #doubts = 0;

  constructor(watched: WatchedClaims, clock: Pick<SteadyClock, 'elapsed'>) {
    this.#watched = watched;
    this.#clock = clock;
    watched.onChange((before, after) => this.#seen(before, after));
    for (const claim of watched.list()) this.#count(claim);
  }

  /** How many claims are kept beside those that the watch has brought. */
  get size(): number {
    return this.#pending.size + this.#written.size;
  }

  get(namespace: string | undefined, name: string): ResourceClaim | undefined {
    const stored = this.#watched.get(namespace, name);
    if (stored === undefined && this.#unseen.size === 0) return undefined;
    return this.#written.get(`${namespace ?? ''}/${name}`) ?? stored;
  }

  /** The newest that is known of this claim, also where it is gone by now. */
  newestOf(claim: ResourceClaim): ResourceClaim {
    const { namespace, name = '', uid } = claim.metadata ?? {};
    const known = this.get(namespace, name);
    return known === undefined || known.metadata?.uid !== uid || isOlderThan(known, claim) ? claim : known;
  }

  /** What is taken of the devices. It changes with the claims. */
  get taken(): AllocatedDevices {
    this.#endDoubts();
    return this.#taken;
  }

  /** `doubt`: it is not known whether the server has the allocation. */
  pendingOf({ metadata }: ResourceClaim): 'pending' | 'doubt' | undefined {
    this.#endDoubts();
    const pending = this.#pending.get(metadata?.uid ?? '');
    return pending && (pending.doubt === undefined ? 'pending' : 'doubt');
  }

  /** The claim is to have this; nobody else may take it from now on. Throws Error where the claim is to have something already. */
  reserve(claim: ResourceClaim, allocation: ClaimAllocation, owner: object): void {
    const uid = claim.metadata?.uid ?? '';
    if (this.pendingOf(claim) !== undefined) throw new Error(`claim ${claimKey(claim)} is being allocated for another pod`);
    this.#pending.set(uid, { claim, allocation, owner });
    this.#count(claim);
  }

  /** The claim is not to have it any more, or has it. Nothing where it is not this owner's, or in doubt. */
  release(claim: ResourceClaim, owner: object): void {
    const pending = this.#pending.get(claim.metadata?.uid ?? '');
    if (pending?.owner === owner && pending.doubt === undefined) this.#end(pending);
  }

  /**
   * Nobody knows whether the server has the allocation, which was written into this version of the claim: it counts until a newer version
   * tells, or no request can be on its way any more.
   */
  doubt(named: ResourceClaim, owner: object): void {
    const pending = this.#pending.get(named.metadata?.uid ?? '');
    if (pending?.owner !== owner || pending.doubt !== undefined) return;
    pending.doubt = { named, untilMs: this.#clock.elapsed() + longestDoubtMs };
    this.#doubts += 1;
    this.#clearUp(this.newestOf(named));
  }

  /** The server has the claim like this, though the watch may not have brought it yet. */
  written(claim: ResourceClaim): void {
    const { namespace, name = '', uid } = claim.metadata ?? {};
    const known = this.get(namespace, name);
    if (known !== undefined && known.metadata?.uid === uid && isOlderThan(known, claim))
      this.#written.set(claimKey(claim), claim);
    this.#clearUp(claim);
    this.#count(claim);
  }

  /**
   * The server has made a claim for what was reserved for `planned`, which has no name. It is known from now on, for a minute also where the
   * watch does not bring it. Throws Error where nothing is reserved.
   */
  made(claim: ResourceClaim, planned: ResourceClaim, owner: object): void {
    const { namespace, name = '', uid = '' } = claim.metadata ?? {};
    const pending = this.#pending.get(planned.metadata?.uid ?? '');
    if (pending?.owner !== owner) throw new Error(`the devices of claim ${claimKey(claim)} were given back in the meantime`);
    if (this.#watched.get(namespace, name)?.metadata?.uid !== uid) {
      this.#unseen.set(uid, { key: claimKey(claim), untilMs: this.#clock.elapsed() + longestDoubtMs });
      this.#written.set(claimKey(claim), claim);
    }
    this.reserve(claim, pending.allocation, owner);
    this.release(planned, owner);
  }

  /** The server has the claim no more, though the watch may not have said so yet. */
  gone(claim: ResourceClaim): void {
    const uid = claim.metadata?.uid ?? '';
    this.#endDoubtOf(claim);
    if (this.#unseen.has(uid)) this.#forgetUnseen(uid);
  }

  /** Calls the function after each change of the claim, until the answer is called. */
  onChangeOf(claim: ResourceClaim, look: () => void): () => void {
    const key = claimKey(claim);
    const looking = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, looking.add(look));
    return () => {
      looking.delete(look);
      if (looking.size === 0 && this.#waiting.get(key) === looking) this.#waiting.delete(key);
    };
  }

  #seen(before: ResourceClaim | undefined, after: ResourceClaim | undefined): void {
    const claims = [before, after].filter((claim) => claim !== undefined);
    for (const claim of claims) {
      const key = claimKey(claim);
      this.#unseen.delete(claim.metadata?.uid ?? '');
      const written = this.#written.get(key);
      const isNewer = written !== undefined && after !== undefined && isOlderThan(after, written);
      if (!isNewer || after.metadata?.uid !== written.metadata?.uid) this.#written.delete(key);
      if (claim.metadata?.uid !== after?.metadata?.uid) this.#endDoubtOf(claim);
      else this.#clearUp(claim);
      this.#count(claim);
    }
    const [seen] = claims;
    for (const look of [...((seen && this.#waiting.get(claimKey(seen))) ?? [])]) look();
  }

  #endDoubts(): void {
    if (this.#doubts === 0 && this.#unseen.size === 0) return;
    const now = this.#clock.elapsed();
    for (const [uid, { untilMs }] of [...this.#unseen]) if (untilMs <= now) this.#forgetUnseen(uid);
    for (const pending of [...this.#pending.values()]) {
      if (pending.doubt !== undefined && pending.doubt.untilMs <= now) this.#end(pending);
    }
  }

  /** A version that is newer than what a write named shows how it has ended: it is there, or was refused. */
  #clearUp(claim: ResourceClaim): void {
    const named = this.#pending.get(claim.metadata?.uid ?? '')?.doubt?.named;
    if (named !== undefined && (isOlderThan(named, claim) || claim.status?.allocation != null)) this.#endDoubtOf(claim);
  }

  #endDoubtOf({ metadata }: ResourceClaim): void {
    const pending = this.#pending.get(metadata?.uid ?? '');
    if (pending?.doubt !== undefined) this.#end(pending);
  }

  #forgetUnseen(uid: string): void {
    const { key = '' } = this.#unseen.get(uid) ?? {};
    this.#unseen.delete(uid);
    const claim = this.#written.get(key);
    if (claim?.metadata?.uid !== uid) return;
    this.#written.delete(key);
    this.#count(claim);
  }

  #end(pending: PendingAllocation): void {
    if (pending.doubt !== undefined) this.#doubts -= 1;
    this.#pending.delete(pending.claim.metadata?.uid ?? '');
    this.#count(pending.claim);
  }

  /** What a claim has counts more than what it is to have: one that has something was not written by what names an older version. */
  #count({ metadata }: ResourceClaim): void {
    const { namespace, name = '', uid = '' } = metadata ?? {};
    const known = this.get(namespace, name);
    const own = known?.metadata?.uid === uid ? known.status?.allocation : undefined;
    this.#taken.set(uid, own ?? this.#pending.get(uid)?.allocation);
  }
}
