import type { SteadyClock } from '../../base/clock.ts';
import { heldLease } from '../../client/leases/observed-lease.ts';
import { type FleetLeaseClient, isWriteRefused } from './fleet-lease-client.ts';
import { type FleetNames, labelled, memberLeaseName, memberMarks, withMemberMarks } from './lease-documents.ts';
import type { SeenLeases } from './seen-leases.ts';
import type { FleetTiming } from './shard-keeper-options.ts';
import { type SentAt, sentNow } from './shard-term.ts';

export interface MemberLeaseOptions {
  readonly names: FleetNames;
  readonly id: string;
  readonly identity: string;
  /** The process and its host, for people. */
  readonly agent: string;
  readonly timing: FleetTiming;
  readonly leases: FleetLeaseClient;
  readonly seen: SeenLeases;
  readonly clock: SteadyClock;
}

/** How often one write is tried again, where another writer is always first. */
const attempts = 3;

/** The Lease by which the other members see that this one is alive. One write is under way at most: the caller waits for it. */
export class MemberLease {
  readonly #options: MemberLeaseOptions;
  readonly #leaseName: string;
  /** When the last renewal was sent. */
  #sent: SentAt | undefined;

  constructor(options: MemberLeaseOptions) {
    this.#options = options;
    this.#leaseName = memberLeaseName(options.names, options.id);
  }

  get name(): string {
    return this.#leaseName;
  }

  /**
   * `old` where it was not renewed for so long that the others may soon count this member as gone; the terms of its shards are over before.
   * `doubtful` where the wall clock alone says so: the machine has slept, or its clock was set forward.
   */
  get age(): 'fresh' | 'doubtful' | 'old' {
    if (this.#sent === undefined) return 'old';
    const { clock, timing } = this.#options;
    const mostMs = (timing.renewDeadlineMs + timing.leaseDurationMs) / 2;
    if (clock.elapsed() - this.#sent.elapsedMs >= mostMs) return 'old';
    return clock.now() - this.#sent.at >= mostMs ? 'doubtful' : 'fresh';
  }

  /** Another process that lives under the id of this member, as its Lease tells of it; undefined where there is none. */
  get namesake(): string | undefined {
    const { seen, identity, clock } = this.#options;
    const { observed } = seen.get(this.#leaseName) ?? {};
    if (observed === undefined || !observed.isHeldByAnother(identity, clock.elapsed())) return undefined;
    return memberMarks(observed.lease).agent ?? observed.holder;
  }

  /** Creates or renews the Lease. False where another process lives under this id: nothing is written then. */
  async renew(isLeaving = false): Promise<boolean> {
    const { names, id, identity, agent, timing, leases, seen, clock } = this.#options;
    // the machine may sleep before a later try: the others may count this member as gone since the first one
    const sent = sentNow(clock);
    for (let attempt = 1; ; attempt++) {
      if (this.namesake !== undefined) return false;
      const base = seen.get(this.#leaseName)?.observed.lease;
      const holder = {
        namespace: names.namespace,
        name: memberLeaseName(names, id),
        identity,
        leaseDurationMs: timing.leaseDurationMs,
      };
      const marks = { isLeaving, agent, shards: names.shards };
      const lease = labelled(withMemberMarks(heldLease(base, holder, clock.now()), marks), names, 'member');
      try {
        seen.renews();
        seen.noted(await leases.write(lease, 'member'));
        this.#sent = sent;
        return true;
      } catch (error) {
        seen.renewalFailed(error);
        if (!isWriteRefused(error)) throw error;
        const read = await leases.read(this.#leaseName);
        if (read === undefined) seen.gone(this.#leaseName);
        else seen.noted(read, true);
        if (attempt === attempts) throw error;
      }
    }
  }

  /** Deletes the Lease where it is this process's. Rejects with what the request rejects with. */
  async remove(): Promise<void> {
    const { seen, identity, leases } = this.#options;
    const { lease, holder } = seen.get(this.#leaseName)?.observed ?? {};
    if (lease === undefined || holder !== identity) return;
    await leases.remove(lease);
    seen.gone(this.#leaseName);
  }
}
