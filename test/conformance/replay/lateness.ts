import type { Memory } from './memory.ts';
import type { Pair } from './pair.ts';
import type { Rule } from './replay-rules.ts';

/**
 * Why our manager may not have made a write that is due. Each reason is a fact that the server knows of our requests, and
 * ends by itself: a backoff and a pause end at their time, the others with the next status, the next batch or the next copy.
 * When upstream finds a foreign write because it looked at another moment, our manager finds it once the pod manager shows it.
 */
export function whyOursIsLate(pair: Pair, memory: Memory): Rule | undefined {
  const { ourRequests: requests, pod, now, ours } = pair;
  if (requests.isPaused(now)) return 'D7 pause';
  if (requests.isBackingOff(pod, now)) return 'D1 retry';
  if (requests.wasToldOfNoPod(ours.server?.uid)) return 'D8 gone';
  if (requests.isNewMirror(ours.server?.uid)) return 'D13 mirror';
  if (!requests.hasNotDealtWithForeignWrite(pod)) return undefined;
  if (memory.apart === 'D12 second look' || isSecondLook(pair)) return 'D12 second look';
  if (!pair.readsFirst) return 'D3 unobserved';
  return memory.apart === 'D1 retry' || pair.theirRequests.hasRetriedNow(pod) ? 'D1 retry' : undefined;
}

/**
 * Why upstream may not have made a write that our manager made. When our manager undid a foreign write because its own write
 * was late, upstream finds the foreign write once its pod manager shows it.
 */
export function whyTheirsIsLate(
  { theirRequests: requests, pod, theirs, world, podUIDs }: Pair,
  memory: Memory,
): Rule | undefined {
  if (requests.isBehindAfterFailure(pod)) return 'D1 retry';
  const uid = theirs.server?.uid;
  if (uid === undefined) return undefined;
  // upstream remembers a static pod's version under the uid of its mirror
  const uids = world.isStatic(uid) ? [uid, ...[...podUIDs].filter((other) => world.isMirror(other))] : [uid];
  if (uids.some((each) => requests.takesForAcknowledged(each))) return 'D2 entry';
  return requests.hasNotDealtWithForeignWrite(pod) ? (memory.apart ?? memory.waited) : undefined;
}

/**
 * Upstream's batch asked for a pod to which nothing had to be written. It compared with a copy from before its own last write,
 * or with one that differs only in what the merge makes different each time.
 */
export function isSecondLook({ hasBatch, pod, podUIDs, theirRequests, isTheirCopySettled }: Pair): boolean {
  const isOld = (uid: string): boolean => theirRequests.hasOwnWriteUnshown(uid);
  return hasBatch && theirRequests.hasAskedNow(pod) && (isTheirCopySettled || [...podUIDs].some(isOld));
}

/** The server has a pod with the uid of a static pod itself, under no mirror pod: upstream asks for it at every wake-up. */
export function asksForStaticPod({ pod, theirs, theirRequests, world }: Pair): boolean {
  return theirRequests.hasAskedNow(pod) && world.isStatic(theirs.server?.uid ?? '');
}

/** Why the two sides may have written at different moments of this step: during the step a request failed, or the client waited. */
export function whyMomentsDiffer({ ourRequests, theirRequests, pod, began }: Pair): Rule | undefined {
  if (ourRequests.hasFailedNow(pod) || theirRequests.hasFailedNow(pod)) return 'D1 retry';
  return ourRequests.isPaused(began) ? 'D7 pause' : undefined;
}

/** Why each side has not written what is due. Undefined when one of them should have written and has no reason. */
export function whyBothMayWait(pair: Pair, memory: Memory): Rule | undefined {
  const reasons = reasonsToWait(pair, memory);
  return reasons.every((why) => why !== undefined) ? reasons[0] : undefined;
}

/** Each side that has not written what is due has a reason. */
export function mayWait(pair: Pair, memory: Memory): boolean {
  return reasonsToWait(pair, memory).every((why) => why !== undefined);
}

/** For each side that has not written what is due, why. */
function reasonsToWait(pair: Pair, memory: Memory): (Rule | undefined)[] {
  const reasons = [
    [pair.ourDue, whyOursIsLate(pair, memory)],
    [pair.theirDue, whyTheirsIsLate(pair, memory)],
  ] as const;
  return reasons.filter(([what]) => what === 'patch' || what === 'delete').map(([, why]) => why);
}
