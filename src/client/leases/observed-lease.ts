import { formatMicroTime } from '../../api/json/time.ts';
import type { WireLease } from '../../api/json/types.ts';

/**
 * The Lease as it was last read or written, and since when it has stood so: by what passes here, whatever happens to the wall
 * clock. The times in a Lease are of another machine's clock, so they count only as marks of a change.
 */
export class ObservedLease {
  readonly #longestMs: number;
  #lease: WireLease | undefined;
  #since = 0;
  /** How long it was to stand when it went. */
  #goneMs = 0;

  /** `longestMs`: no duration counts as more. */
  constructor(longestMs = Number.POSITIVE_INFINITY) {
    this.#longestMs = longestMs;
  }

  get lease(): WireLease | undefined {
    return this.#lease;
  }

  get holder(): string {
    return this.#lease?.spec?.holderIdentity ?? '';
  }

  /** A Lease that was read; `elapsedMs` as the clock counts it, here and below. True where it has changed: what was known before does not count any more. */
  read(lease: WireLease, elapsedMs: number): boolean {
    const hasChanged = markOf(lease) !== markOf(this.#lease);
    if (hasChanged) this.#since = elapsedMs;
    this.#lease = lease;
    return hasChanged;
  }

  /** A Lease that was written. */
  written(lease: WireLease, elapsedMs: number): void {
    this.#lease = lease;
    this.#since = elapsedMs;
  }

  forget(): void {
    this.#lease = undefined;
  }

  /** It was seen to go. */
  gone(elapsedMs: number): void {
    this.#goneMs = this.durationMs;
    this.#lease = undefined;
    this.#since = elapsedMs;
  }

  /** Since when it has stood so. */
  get since(): number {
    return this.#since;
  }

  /** How long it stands without a renewal; of one that has gone, how long it was to. */
  get durationMs(): number {
    if (this.#lease === undefined) return this.#goneMs;
    return Math.min(this.#longestMs, (this.#lease.spec?.leaseDurationSeconds ?? 0) * 1000);
  }

  /** When it runs out, unless it is renewed before. */
  get runsOutAt(): number {
    return this.#lease === undefined ? this.#since : this.#since + this.durationMs;
  }

  /** Since when nobody holds it; in the future while it has not run out. */
  get freeSince(): number {
    return this.holder === '' ? this.#since : this.runsOutAt;
  }

  /** True where someone else holds it and it has not run out. */
  isHeldByAnother(identity: string, elapsedMs: number): boolean {
    return this.holder !== '' && this.holder !== identity && elapsedMs < this.runsOutAt;
  }
}

/** Differs between any two renewals. */
function markOf(lease: WireLease | undefined): string {
  if (lease === undefined) return '';
  const { holderIdentity, renewTime, leaseTransitions, leaseDurationSeconds } = lease.spec ?? {};
  return JSON.stringify([lease.metadata?.uid, holderIdentity, renewTime, leaseTransitions, leaseDurationSeconds]);
}

export interface LeaseHolder {
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly leaseDurationMs: number;
}

/**
 * The Lease with `identity` as its holder; what others have put into it stays. As client-go, a change of holder is counted. The time of
 * the renewal is never the one that the Lease has, as it could be after a clock was set back: a write that changes nothing leaves the version,
 * and by that another one could take the Lease.
 */
export function heldLease(base: WireLease | undefined, holder: LeaseHolder, now: number): WireLease {
  const { namespace, name, identity, leaseDurationMs } = holder;
  const { acquireTime, leaseTransitions = 0, holderIdentity } = base?.spec ?? {};
  const isOurs = base !== undefined && holderIdentity === identity;
  const { renewTime } = base?.spec ?? {};
  const time = formatMicroTime(now) === renewTime ? formatMicroTime(now + 1) : formatMicroTime(now);
  return {
    ...base,
    metadata: { ...base?.metadata, namespace, name },
    spec: {
      ...base?.spec,
      holderIdentity: identity,
      leaseDurationSeconds: leaseDurationMs / 1000,
      acquireTime: isOurs && acquireTime !== undefined ? acquireTime : time,
      renewTime: time,
      leaseTransitions: base === undefined || isOurs ? leaseTransitions : nextTransitions(leaseTransitions),
    },
  };
}

/** The field is an int32: the apiserver refuses what is greater, and the Lease could never be taken. */
function nextTransitions(leaseTransitions: number): number {
  return leaseTransitions < 2 ** 31 - 1 ? leaseTransitions + 1 : 0;
}

/** The Lease given up: nobody holds it, and it runs out after a second. */
export function releasedLease(base: WireLease, now: number): WireLease {
  const time = formatMicroTime(now);
  const spec = { ...base.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time };
  return { ...base, spec };
}
