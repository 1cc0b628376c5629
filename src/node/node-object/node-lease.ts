// Behaviour of k8s.io/component-helpers/apimachinery/lease/controller.go, v0.36.3.

import type { WireLease } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import type { ResourceClient } from '../../client/resources/resource-client.ts';
import { leaseNamespace, renewedLease } from './lease-object.ts';
import { type LeaseRival, LeaseRivals, type Moment } from './lease-rivals.ts';
import type { ResolvedNodeOptions } from './node-object-options.ts';
import type { NodeRequests } from './node-requests.ts';

/** How often one step reads the Lease and renews it again, when another writer is always first. */
const renewAttempts = 5;

export interface NodeLeaseParts {
  readonly options: ResolvedNodeOptions;
  readonly leases: ResourceClient<WireLease>;
  readonly requests: NodeRequests;
  /** Undefined while the node is not registered. */
  readonly nodeUID: () => string | undefined;
}

/** Creates the node's Lease, and renews it: one request a renewal, made against the Lease as the last answer showed it. */
export class NodeLease {
  readonly #parts: NodeLeaseParts;
  readonly #rivals = new LeaseRivals();
  /** The newest Lease that we have written or read. */
  #latest: WireLease | undefined;
  #createdUID: string | undefined;
  #lastRenewAt: number | undefined;
  /** The same in time that has passed. */
  #renewedAt: number | undefined;
  #toldRivalAt = Number.NEGATIVE_INFINITY;

  constructor(parts: NodeLeaseParts) {
    this.#parts = parts;
  }

  /** The uid of the Lease that this process has created, and that nobody has replaced. */
  get createdUID(): string | undefined {
    return this.#createdUID;
  }

  /** In milliseconds since the epoch. */
  get lastRenewAt(): number | undefined {
    return this.#lastRenewAt;
  }

  /** How long ago the last renewal was, in milliseconds; undefined before the first. */
  get ageMs(): number | undefined {
    return this.#renewedAt === undefined ? undefined : this.#parts.options.clock.elapsed() - this.#renewedAt;
  }

  get rival(): LeaseRival | undefined {
    return this.#rivals.rival;
  }

  /** See {@link LeaseRivals.isAnotherAlive}; `lease` is the Lease as it is now. */
  isAnotherAlive(lease: WireLease | undefined): boolean {
    const { clock, leaseDurationSeconds } = this.#parts.options;
    return this.#rivals.isAnotherAlive(lease, momentOf(clock), leaseDurationSeconds * 1000);
  }

  /** One renewal. Rejects with what a request rejects with. Before the node is registered nothing happens. */
  async step(): Promise<void> {
    if (this.#parts.nodeUID() === undefined && this.#latest === undefined) return;
    for (let attempt = 1; ; attempt++) {
      const base = this.#latest ?? (await this.#read());
      try {
        await this.#write(base);
        return;
      } catch (error) {
        const errorClass = classifyApiError(error);
        // whoever was first, the next attempt reads what there is
        if (errorClass === 'conflict' || errorClass === 'gone' || errorClass === 'invalid') this.#latest = undefined;
        if (attempt === renewAttempts || (errorClass !== 'conflict' && errorClass !== 'gone')) throw error;
      }
    }
  }

  async #write(base: WireLease | undefined): Promise<void> {
    const { options, leases, requests, nodeUID } = this.#parts;
    const { nodeName, holderIdentity, leaseDurationSeconds, clock, logger, metrics } = options;
    const lease = renewedLease(base, { nodeName, nodeUID: nodeUID(), holderIdentity, leaseDurationSeconds, now: clock.now() });
    this.#rivals.sent(lease);
    if (base === undefined) {
      const created = await requests.call('the creation of the Lease', (call) => leases.create(lease, call));
      this.#createdUID = created.metadata?.uid;
      this.#latest = created;
      logger.info({ nodeName }, 'created the Lease of the node');
    } else {
      this.#latest = await requests.call('the renewal of the Lease', (call) => leases.update(lease, call));
    }
    this.#lastRenewAt = clock.now();
    this.#renewedAt = clock.elapsed();
    metrics.increment('pod_status_manager_lease_renewals_total', { result: 'ok' });
    logger.debug({ nodeName }, 'the Lease of the node is renewed');
  }

  /** Undefined: there is no such Lease. */
  async #read(): Promise<WireLease | undefined> {
    const { options, leases, requests } = this.#parts;
    const { nodeName: name, clock } = options;
    try {
      const lease = await requests.call('the read of the Lease', (call) => leases.get({ namespace: leaseNamespace, name }, call));
      if (lease.metadata?.uid !== this.#createdUID) this.#createdUID = undefined;
      this.#latest = lease;
      this.#noteRival(this.#rivals.read(lease, momentOf(clock)));
      return lease;
    } catch (error) {
      if (classifyApiError(error) !== 'gone') throw error;
      this.#createdUID = undefined;
      return undefined;
    }
  }

  /** The log says it once in a Lease's duration. */
  #noteRival(rival: LeaseRival | undefined): void {
    if (rival === undefined) return;
    const { clock, logger, nodeName, leaseDurationSeconds } = this.#parts.options;
    const now = clock.elapsed();
    if (now - this.#toldRivalAt < leaseDurationSeconds * 1000) return;
    this.#toldRivalAt = now;
    logger.error({ nodeName, ...rival }, 'another agent renews the Lease of this node: two agents run under one name');
  }
}

function momentOf(clock: SteadyClock): Moment {
  return { now: clock.now(), elapsed: clock.elapsed() };
}
