import type { WireLease } from '../../wire/node-types.ts';

/**
 * The Lease as it was last read or written, and since when it has stood so by our clock. The times in a Lease are of another
 * machine's clock, so they count only as marks of a change.
 */
export class ObservedLease {
  #lease: WireLease | undefined;
  #since = 0;

  get lease(): WireLease | undefined {
    return this.#lease;
  }

  get holder(): string {
    return this.#lease?.spec?.holderIdentity ?? '';
  }

  /** A Lease that was read. */
  read(lease: WireLease, now: number): void {
    if (markOf(lease) !== markOf(this.#lease)) this.#since = now;
    this.#lease = lease;
  }

  /** A Lease that was written. */
  written(lease: WireLease, now: number): void {
    this.#lease = lease;
    this.#since = now;
  }

  forget(): void {
    this.#lease = undefined;
  }

  /** True where someone else holds it and it has not run out. */
  isHeldByAnother(identity: string, now: number): boolean {
    if (this.holder === '' || this.holder === identity) return false;
    const durationMs = (this.#lease?.spec?.leaseDurationSeconds ?? 0) * 1000;
    // a clock that went back would let nobody ever take it
    return now >= this.#since ? now < this.#since + durationMs : true;
  }
}

/** Differs between any two renewals. */
function markOf(lease: WireLease | undefined): string {
  if (lease === undefined) return '';
  const { holderIdentity, renewTime, leaseTransitions, leaseDurationSeconds } = lease.spec ?? {};
  return JSON.stringify([lease.metadata?.uid, holderIdentity, renewTime, leaseTransitions, leaseDurationSeconds]);
}
