import type { WireLease } from '../../api/json/types.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import type { FleetLeaseClient } from './fleet-lease-client.ts';
import {
  type FleetNames,
  labelled,
  settingsLeaseName,
  shardLeaseName,
  shardsOf,
  takenShardsOf,
  withShards,
} from './lease-documents.ts';
import type { SeenLeases } from './seen-leases.ts';

export interface FleetSettingsOptions {
  readonly names: FleetNames;
  readonly leases: FleetLeaseClient;
  readonly seen: SeenLeases;
}

/**
 * The number of shards that all members of the fleet count with, in a Lease of its own. Nobody changes it while a member is alive that
 * counts with it: with two numbers one node would fall into two shards.
 */
export class FleetSettings {
  readonly #options: FleetSettingsOptions;
  readonly #leaseName: string;

  constructor(options: FleetSettingsOptions) {
    this.#options = options;
    this.#leaseName = settingsLeaseName(options.names);
  }

  /** The number as it was seen last; undefined where there is none. */
  get seen(): number | undefined {
    return shardsOf(this.#seenLease);
  }

  /** True once every shard has had a Lease: one that is missing was deleted then, and its owner may not know it yet. */
  get areAllTaken(): boolean {
    return takenShardsOf(this.#seenLease) === this.#options.names.shards;
  }

  get #seenLease(): WireLease | undefined {
    return this.#options.seen.get(this.#leaseName)?.observed.lease;
  }

  /**
   * Creates the Lease again where somebody has deleted it, so that others can come, and writes into it once that every shard has had a Lease.
   * To be called by a living member, in whose presence nobody changes the number. Rejects with what the request rejects with.
   */
  async keep(): Promise<void> {
    const { names, leases, seen } = this.#options;
    const lease = this.#seenLease;
    const isOthers = lease !== undefined && this.seen !== names.shards;
    const areAllTaken = Array.from({ length: names.shards }, (_, shard) => seen.get(shardLeaseName(names, shard))).every(Boolean);
    // of a Lease that was deleted before this process came it knows nothing: what was said once stays
    const hasToSay = areAllTaken && !this.areAllTaken;
    if (isOthers || (lease !== undefined && !hasToSay)) return;
    const written = labelled(withShards(lease ?? this.#newLease, names.shards, areAllTaken), names, 'fleet');
    seen.noted(await leases.write(written, 'fleet'));
  }

  get #newLease(): WireLease {
    return { metadata: { name: this.#leaseName, namespace: this.#options.names.namespace } };
  }

  /**
   * Reads the number, and writes this member's where there is none or another, and `mayChange` says so. Resolves to the number that the
   * fleet has then; undefined where nobody has said it. Rejects with what a request rejects with; where another member was first, it is read again.
   */
  async agree(mayChange: () => Promise<boolean>): Promise<number | undefined> {
    const { names, leases, seen } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const lease = await leases.read(this.#leaseName);
      if (lease !== undefined) seen.noted(lease, true);
      const shards = shardsOf(lease);
      if (shards === names.shards || !(await mayChange())) return shards;
      try {
        seen.noted(await leases.write(labelled(withShards(lease ?? this.#newLease, names.shards), names, 'fleet'), 'fleet'));
        return names.shards;
      } catch (error) {
        if (classifyApiError(error) !== 'conflict' || attempt === attempts) throw error;
      }
    }
  }
}

/** How often the number is read again, where another member is always first. */
const attempts = 5;
