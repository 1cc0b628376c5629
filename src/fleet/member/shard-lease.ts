import { isOlderThan } from '../../api/json/resource-version.ts';
import type { WireLease } from '../../api/json/types.ts';
import { heldLease, releasedLease } from '../../client/leases/observed-lease.ts';
import { areNodesStarting, labelled, shardLeaseName, withNodes } from './lease-documents.ts';
import type { SeenLease } from './seen-leases.ts';
import type { ShardKeeperOptions } from './shard-keeper-options.ts';
import type { SentAt } from './shard-term.ts';

export type ShardLeaseOptions = Pick<ShardKeeperOptions, 'shard' | 'names' | 'identity' | 'timing' | 'leases' | 'seen' | 'clock'>;

/** The Lease of one shard: as it was seen last, and as this member has written it. */
export class ShardLease {
  readonly name: string;
  readonly #options: ShardLeaseOptions;
  /** As this member wrote it last, and when that was sent; of use while it is this member's. */
  #written: { readonly lease: WireLease; readonly sent: SentAt } | undefined;

  constructor(options: ShardLeaseOptions) {
    this.#options = options;
    this.name = shardLeaseName(options.names, options.shard);
  }

  get seen(): SeenLease | undefined {
    return this.#options.seen.get(this.name);
  }

  /** Who holds it, as far as it was seen; undefined while nobody does. */
  get holder(): string | undefined {
    const { observed } = this.seen ?? {};
    if (observed === undefined || observed.holder === '') return undefined;
    return observed.runsOutAt <= this.#options.clock.elapsed() ? undefined : observed.holder;
  }

  get isAnothers(): boolean {
    const { identity, clock } = this.#options;
    return this.seen?.observed.isHeldByAnother(identity, clock.elapsed()) ?? false;
  }

  /** True while its next owner is at work: it was given up and is to be taken, or its owner says that the nodes still start. */
  get isUnsettled(): boolean {
    const { observed } = this.seen ?? {};
    if (observed?.lease === undefined) return false;
    return observed.holder === '' || (this.holder !== undefined && areNodesStarting(observed.lease));
  }

  /** Who has taken it since this member wrote it, as far as it was seen; undefined where nobody has. */
  get otherHolder(): string | undefined {
    const { lease, holder = '' } = this.seen?.observed ?? {};
    if (lease === undefined || holder === '' || holder === this.#options.identity) return undefined;
    // a list may have been made before the last write
    return this.written !== undefined && isOlderThan(lease, this.written) ? undefined : holder;
  }

  get written(): WireLease | undefined {
    return this.#written?.lease;
  }

  /** When the last write was sent; undefined where nothing is known of one. */
  get sent(): SentAt | undefined {
    return this.#written?.sent;
  }

  isOurs(lease: WireLease): boolean {
    return lease.spec?.holderIdentity === this.#options.identity;
  }

  /** The next write is made against this copy. */
  found(lease: WireLease, sent: SentAt): void {
    this.#written = { lease, sent };
  }

  forget(): void {
    this.#written = undefined;
  }

  /** Creates the Lease, or takes or renews what `base` is a copy of. It says whether the nodes of the shard still start. */
  async hold(base: WireLease | undefined, sent: SentAt, areStarting: boolean): Promise<void> {
    const { leases, seen, names, identity, timing } = this.#options;
    const { leaseDurationMs } = timing;
    const holder = { namespace: names.namespace, name: this.name, identity, leaseDurationMs };
    const held = withNodes(heldLease(base, holder, sent.at), areStarting);
    const lease = await leases.write(labelled(held, names, 'shard'), 'shard');
    this.#written = { lease, sent };
    seen.noted(lease);
  }

  /** Gives up what `base` is a copy of. */
  async release(base: WireLease): Promise<void> {
    const { leases, seen, names, clock } = this.#options;
    seen.noted(await leases.write(labelled(releasedLease(base, clock.now()), names, 'shard'), 'shard'));
  }

  async read(): Promise<WireLease | undefined> {
    const { leases, seen } = this.#options;
    const lease = await leases.read(this.name);
    if (lease === undefined) seen.gone(this.name);
    else seen.noted(lease, true);
    return lease;
  }
}
