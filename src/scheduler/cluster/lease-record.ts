import type { WireLease } from '../../api/json/types.ts';

export interface LeaseHolder {
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly leaseDurationMs: number;
}

/** The Lease with `identity` as its holder; what others have put into it stays. As client-go, a change of holder is counted. */
export function heldLease(base: WireLease | undefined, holder: LeaseHolder, now: number): WireLease {
  const { namespace, name, identity, leaseDurationMs } = holder;
  const { acquireTime, leaseTransitions = 0, holderIdentity } = base?.spec ?? {};
  const isOurs = base !== undefined && holderIdentity === identity;
  const time = microTime(now);
  return {
    ...base,
    metadata: { ...base?.metadata, namespace, name },
    spec: {
      ...base?.spec,
      holderIdentity: identity,
      leaseDurationSeconds: leaseDurationMs / 1000,
      acquireTime: isOurs && acquireTime !== undefined ? acquireTime : time,
      renewTime: time,
      leaseTransitions: base === undefined || isOurs ? leaseTransitions : leaseTransitions + 1,
    },
  };
}

/** The Lease given up: nobody holds it, and it runs out after a second. */
export function releasedLease(base: WireLease, now: number): WireLease {
  const time = microTime(now);
  const spec = { ...base.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time };
  return { ...base, spec };
}

/** RFC 3339 with six digits of a second. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
