// Behaviour of isPodReadyForBinding, dynamicresources.go, v1.36.3.
import type { Clock } from '../../../base/clock.ts';
import { onAbort } from '../../../base/concurrency/aborts.ts';
import { longestTimerMs } from '../../../base/options.ts';
import type { ResourceClaim } from '../../devices/device-types.ts';
import { isBindingOverdue, readinessOf } from './binding-conditions.ts';
import type { ClaimTracker } from './claim-tracker.ts';
import { claimKey } from './usable-claims.ts';

export interface AwaitedDevicesOptions {
  readonly tracker: ClaimTracker;
  readonly clock: Clock;
  /** How long devices may take, counted from their allocation. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Resolves once the devices of all claims are ready. Rejects where a driver says that one will not be, where the time is over, and with the
 * signal's reason.
 */
export async function untilReady(claims: readonly ResourceClaim[], options: AwaitedDevicesOptions): Promise<void> {
  const { tracker, clock, timeoutMs, signal } = options;
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const look = (isLast: boolean): void => {
    try {
      const waiting = claims.map((claim) => currentOf(claim, tracker)).find(isWaiting);
      if (waiting === undefined) resolve();
      else if (isLast || isBindingOverdue(waiting, clock.now(), timeoutMs)) {
        reject(new Error(`device binding timeout: claim=${waiting.metadata?.name}`));
      }
    } catch (error) {
      reject(error);
    }
  };
  const leaves = claims.map((claim) => tracker.onChangeOf(claim, () => look(false)));
  leaves.push(clock.setTimer(() => look(true), timeLeftMs(claims, clock.now(), timeoutMs)));
  leaves.push(onAbort(signal, () => reject(signal.reason)));
  try {
    look(false);
    await promise;
  } finally {
    for (const leave of leaves) leave();
  }
}

/** The claim as it is now. Throws where it is gone, or has no devices any more. */
function currentOf(claim: ResourceClaim, tracker: ClaimTracker): ResourceClaim {
  const { namespace, name = '', uid } = claim.metadata ?? {};
  const now = tracker.get(namespace, name);
  if (now?.metadata?.uid !== uid) throw new Error(`could not find ResourceClaim ${JSON.stringify(claimKey(claim))}`);
  if (now?.status?.allocation == null) throw new Error(`claim ${claimKey(claim)} got deallocated elsewhere in the meantime`);
  return now;
}

function isWaiting(claim: ResourceClaim): boolean {
  const readiness = readinessOf(claim);
  if (typeof readiness === 'object') throw new Error(readiness.failed);
  return readiness === 'waiting';
}

/** The clock may have been set: never more than the whole time. A longer timer would end at once. */
function timeLeftMs(claims: readonly ResourceClaim[], now: number, timeoutMs: number): number {
  const allocated = claims.map(({ status }) => Date.parse(String(status?.allocation?.allocationTimestamp)));
  const lefts = allocated.filter(Number.isFinite).map((at) => at + timeoutMs + 1 - now);
  return Math.max(0, Math.min(timeoutMs, longestTimerMs, ...lefts));
}
