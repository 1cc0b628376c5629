import type { Memory } from './memory.ts';
import type { Pair } from './pair.ts';
import type { Rule } from './rules.ts';

/**
 * Why a write of ours may be due and not made: one of the facts that the server itself knows of our requests. Each ends by
 * itself: a backoff and a pause by their time, the others by the next status, the next batch or the next copy. A foreign
 * write that upstream found because it looked at another moment is found by ours when the pod manager shows it.
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
 * Why upstream may have left undone what ours has done. A foreign write that ours undid because its own write was late is
 * found by upstream when its pod manager shows it.
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
 * Upstream's batch went to look where no write was due: it compared with a copy from before its own last write, or with one
 * that differs only in what the merge makes different each time.
 */
export function isSecondLook({ hasBatch, pod, podUIDs, theirRequests, isTheirCopySettled }: Pair): boolean {
  const isOld = (uid: string): boolean => theirRequests.hasOwnWriteUnshown(uid);
  return hasBatch && theirRequests.hasAskedNow(pod) && (isTheirCopySettled || [...podUIDs].some(isOld));
}

/** The server has a pod with the uid of a static pod itself, under no mirror pod: upstream asks for it at every wake-up. */
export function asksForStaticPod({ pod, theirs, theirRequests, world }: Pair): boolean {
  return theirRequests.hasAskedNow(pod) && world.isStatic(theirs.server?.uid ?? '');
}

/** Why the two may have written at different moments of this step: a request failed, or the client waited, while it lasted. */
export function whyMomentsDiffer({ ourRequests, theirRequests, pod, began }: Pair): Rule | undefined {
  if (ourRequests.hasFailedNow(pod) || theirRequests.hasFailedNow(pod)) return 'D1 retry';
  return ourRequests.isPaused(began) ? 'D7 pause' : undefined;
}

/** The reasons of both sides for what they have not written; undefined where one of them has none for what it should have. */
export function whyBothMayWait(pair: Pair, memory: Memory): Rule | undefined {
  const reasons = [
    [pair.ourDue, whyOursIsLate(pair, memory)],
    [pair.theirDue, whyTheirsIsLate(pair, memory)],
  ] as const;
  const due = reasons.filter(([what]) => what === 'patch' || what === 'delete');
  return due.every(([, why]) => why !== undefined) ? due[0]?.[1] : undefined;
}
