import { classifyApiError } from '../../client/resources/error-class.ts';
import type { FleetLeaseClient } from './fleet-lease-client.ts';
import { type FleetNames, labelled, settingsLeaseName, shardsOf, withShards } from './lease-documents.ts';
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
    return shardsOf(this.#options.seen.get(this.#leaseName)?.observed.lease);
  }

  /**
   * Reads the number, and writes this member's where there is none or another, and `mayChange` says so. Rejects with what a request
   * rejects with; where another member was first, it is read again.
   */
  async agree(mayChange: () => Promise<boolean>): Promise<AgreedShards> {
    const { names, leases, seen } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const lease = await leases.read(this.#leaseName);
      if (lease !== undefined) seen.noted(lease, true);
      const shards = shardsOf(lease);
      if (shards === names.shards || !(await mayChange())) return { shards, isChanged: false };
      const base = lease ?? { metadata: { name: this.#leaseName, namespace: names.namespace } };
      try {
        seen.noted(await leases.write(labelled(withShards(base, names.shards), names, 'fleet'), 'fleet'));
        return { shards: names.shards, isChanged: true };
      } catch (error) {
        if (classifyApiError(error) !== 'conflict' || attempt === attempts) throw error;
      }
    }
  }
}

/** The number of shards that the fleet has now; undefined where nobody has said it. */
export interface AgreedShards {
  readonly shards: number | undefined;
  /** True where this member has just written it. */
  readonly isChanged: boolean;
}

/** How often the number is read again, where another member is always first. */
const attempts = 5;
