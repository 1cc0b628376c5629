import { isOlderThan } from '../../api/json/resource-version.ts';
import type { WireLease } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import type { LastFailure } from '../../base/concurrency/run-state.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { MetricsSink } from '../../base/metrics/metrics.ts';
import { ObservedLease } from '../../client/leases/observed-lease.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { readApiFailure } from '../../client/resources/error-class.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import {
  areNodesStarting,
  type FleetNames,
  fleetSelector,
  isOfFleet,
  longestDurationMs,
  memberMarks,
  shardOfLease,
} from './lease-documents.ts';

export interface SeenLeasesOptions {
  readonly transport: ResourceTransport;
  readonly names: FleetNames;
  readonly leaseDurationMs: number;
  readonly clock: SteadyClock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: MetricsSink | undefined;
  /** Told when a Lease has come, gone, or has another holder or says something else; not of a mere renewal. */
  readonly changed: () => void;
}

/** A Lease as it was seen last; that of a shard also once it is gone. */
export interface SeenLease {
  readonly observed: ObservedLease;
  /** When it was last seen to change, in milliseconds since the epoch. */
  readonly seenAt: number;
}

/** What stands between this process and the apiserver says these of a server that gives no answer. */
const answersOfOthers: readonly number[] = [502, 503, 504];

/**
 * The Leases of the fleet, by name: what the watch brings, and what this member has read and written itself. Of two copies of one Lease
 * the newer one stays, but a full list is the truth.
 */
export class SeenLeases {
  readonly #options: SeenLeasesOptions;
  readonly #reflector: Reflector<WireLease>;
  readonly #leases = new Map<string, { readonly observed: ObservedLease; seenAt: number }>();
  /** When the watch brought a Lease or a list last, or was begun, by `clock.elapsed()`; undefined before. */
  #heardAt: number | undefined;
  /** Since when the watch is to bring the own renewal that was sent, and has brought nothing; undefined where it owes nothing. */
  #awaitsSince: number | undefined;
  #isStopped = false;

  constructor(options: SeenLeasesOptions) {
    this.#options = options;
    const { transport, names, clock, random, logger, metrics } = options;
    const watched = (lease: WireLease): void => {
      this.#heard();
      this.noted(lease);
    };
    this.#reflector = new Reflector<WireLease>({
      transport,
      resource: resources.leases,
      namespace: names.namespace,
      labelSelector: fleetSelector(names),
      handlers: {
        added: watched,
        updated: watched,
        deleted: (lease) => {
          this.#heard();
          this.gone(lease.metadata?.name ?? '', lease);
        },
        synced: () => this.#listed(),
      },
      clock,
      random,
      logger,
      name: 'leases',
      ...(metrics !== undefined && { metrics }),
    });
  }

  /** Resolves once all Leases are known. Rejects where it is stopped before. */
  start(): Promise<void> {
    this.#heardAt = this.#options.clock.elapsed();
    return this.#reflector.start();
  }

  stop(): Promise<void> {
    this.#heardAt = this.heardUntil ?? this.#options.clock.elapsed();
    this.#isStopped = true;
    return this.#reflector.stop();
  }

  /** True once all Leases are known. */
  get hasSynced(): boolean {
    return this.#reflector.hasSynced;
  }

  /** Why the Leases could not be read last; undefined once the server was heard from again. */
  lastFailure(): LastFailure | undefined {
    return this.#reflector.lastFailure();
  }

  /** As of when the Leases are known, by `clock.elapsed()`: while the watch owes nothing, now. Undefined before it was started. */
  get heardUntil(): number | undefined {
    return this.#works ? (this.#awaitsSince ?? this.#options.clock.elapsed()) : this.#heardAt;
  }

  /** True while the Leases are known as they are: the watch works, and has not owed an own renewal for as long as a Lease lasts. */
  get isHeard(): boolean {
    const { clock, leaseDurationMs } = this.#options;
    const now = clock.elapsed();
    return this.#works && now - (this.#awaitsSince ?? now) < leaseDurationMs;
  }

  get #works(): boolean {
    return !this.#isStopped && this.hasSynced && this.lastFailure() === undefined;
  }

  /** A renewal of the own Lease is sent: the watch is to bring it. One that is dead without a failure does not. */
  renews(): void {
    this.#awaitsSince ??= this.#options.clock.elapsed();
  }

  /** The renewal has failed. What the server has refused the watch never brings. */
  renewalFailed(error: unknown): void {
    const { status } = readApiFailure(error);
    if (status !== undefined && !answersOfOthers.includes(status)) this.#awaitsSince = undefined;
  }

  #heard(): void {
    this.#heardAt = this.#options.clock.elapsed();
    this.#awaitsSince = undefined;
  }

  get(name: string): SeenLease | undefined {
    return this.#leases.get(name);
  }

  all(): Iterable<SeenLease> {
    return this.#leases.values();
  }

  /** True while a shard of the fleet has an owner, by whatever number of shards. */
  get hasOwnedShards(): boolean {
    const { clock, names } = this.#options;
    const now = clock.elapsed();
    for (const { observed } of this.#leases.values()) {
      const { lease, holder, runsOutAt } = observed;
      if (lease !== undefined && shardOfLease(names, lease) !== undefined && holder !== '' && now < runsOutAt) return true;
    }
    return false;
  }

  /** A copy that was read, written or watched. An older one than the known copy changes nothing. */
  noted(lease: WireLease, isTruth = false): void {
    const name = lease.metadata?.name ?? '';
    const { clock, changed, names } = this.#options;
    if (!isOfFleet(names, lease)) return;
    const known = this.#leases.get(name);
    if (known === undefined) {
      const observed = new ObservedLease(longestDurationMs);
      observed.read(lease, clock.elapsed());
      this.#leases.set(name, { observed, seenAt: clock.now() });
      changed();
      return;
    }
    const before = known.observed.lease;
    if (!isTruth && before !== undefined && isOlderThan(lease, before)) return;
    if (known.observed.read(lease, clock.elapsed())) known.seenAt = clock.now();
    if (saysElse(lease, before)) changed();
  }

  /** The Lease is not there any more. `last`: as it was when it went; a newer one may have come since. */
  gone(name: string, last?: WireLease): void {
    const known = this.#leases.get(name);
    if (known === undefined) return;
    const { lease } = known.observed;
    if (lease === undefined || (last !== undefined && lease.metadata?.uid !== last.metadata?.uid)) return;
    const { clock, changed, names } = this.#options;
    // the owner of a shard may not know yet that its Lease is gone
    if (shardOfLease(names, lease) !== undefined) known.observed.gone(clock.elapsed());
    else this.#leases.delete(name);
    changed();
  }

  /** A full list is a consistent read, also after a restore of etcd. */
  #listed(): void {
    this.#heard();
    const listed = new Map(this.#reflector.store.list().map((lease) => [lease.metadata?.name ?? '', lease]));
    for (const name of this.#leases.keys()) if (!listed.has(name)) this.gone(name);
    for (const lease of listed.values()) this.noted(lease, true);
  }
}

/** True where more than the time of the last renewal differs. */
function saysElse(lease: WireLease, before: WireLease | undefined): boolean {
  return tellsOf(lease) !== tellsOf(before);
}

function tellsOf(lease: WireLease | undefined): string {
  const { metadata, spec } = lease ?? {};
  const { isLeaving, shards } = memberMarks(lease);
  const areStarting = areNodesStarting(lease);
  return JSON.stringify([metadata?.uid, spec?.holderIdentity, spec?.leaseDurationSeconds, isLeaving, shards, areStarting]);
}
