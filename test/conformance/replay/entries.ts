import { isDeepStrictEqual } from 'node:util';
import type { WirePodStatus } from '../../../src/index.ts';
import { comparable } from './canonical.ts';
import { withoutDisruptionTime } from './disruption-times.ts';
import type { Differences } from './excuses.ts';
import type { OutOfOrder } from './init-order.ts';
import { whyOursIsLate, whyTheirsIsLate } from './lateness.ts';
import { cachedStatus, everything, serverStatus, untimed, withoutTraces } from './masks.ts';
import type { ApartEntry, Memory } from './memory.ts';
import type { Pair, View } from './pair.ts';
import type { Rule } from './replay-rules.ts';
import { isInitialized } from './termination-rules.ts';
import { isAboutUID } from './their-requests.ts';

/**
 * Entries that one side has and the other has not, or that began at different moments, each with the rule that says why.
 * While an entry has begun at different moments on the two sides, three things are excused for this uid: its presence, its
 * times, and updates that only one side took. That ends when the entry is gone on both sides, or the two sides agree.
 */
export function excuseEntries(pair: Pair, memory: Memory, differences: Differences, disorder: OutOfOrder | undefined): void {
  if (disorder !== undefined) openForDisorder(pair, memory, disorder);
  openForCopy(pair, memory);
  for (const uid of pair.podUIDs) {
    const isOnOne = uid in pair.theirs.cache !== uid in pair.ours.cache;
    // a first status is compared with the copies that the pod managers have
    const ofCopies = pair.isFirst && isAbout(pair, uid) ? memory.copy : undefined;
    open(memory, uid, (isOnOne ? whyOneHasIt(pair, memory, uid) : undefined) ?? ofCopies);
  }
  for (const [uid, entry] of memory.entries) {
    if (!isOver(pair, uid)) excuseEntry(pair, memory, differences, uid, entry);
    else {
      memory.entries.delete(uid);
      if (!memory.ourEntries.has(uid) || wasDroppedUndeleted(pair, uid)) memory.orphaned.add(uid);
    }
    if (differences.differed.has('server') && isOnServer(pair, memory, uid)) memory.apart ??= entry.rule;
  }
}

/** The entry is gone on both sides, and so are the resize conditions that went with it: both sides have the same ones again. */
function isOver({ theirs, ours, step }: Pair, uid: string): boolean {
  const isGone = !(uid in theirs.cache) && !(uid in ours.cache) && step.podUID !== uid;
  const [theirResizes, ourResizes] = [theirs, ours].map(({ resizeConditions }) => comparable(resizeConditions[uid], true));
  return isGone && isDeepStrictEqual(theirResizes, ourResizes);
}

/** Ours has dropped the entry in this step (D11), and the pod is still on its server. */
function wasDroppedUndeleted({ hasBatch, ourRequests, ours }: Pair, uid: string): boolean {
  return hasBatch && ourRequests.isForgotten(uid) && ours.server?.uid === uid;
}

function open(memory: Memory, uid: string, rule: Rule | undefined): void {
  if (rule !== undefined && !memory.entries.has(uid)) memory.entries.set(uid, { rule, content: false });
}

/** D4: upstream refused a first status that is legal, and our manager took it; or each finished the pod from an order of its own. */
function openForDisorder({ ours }: Pair, memory: Memory, { podUID, isRefused, isLegal }: OutOfOrder): void {
  const isTaken = ours.notifications.some((notification) => notification.podUID === podUID);
  if (isTaken && isLegal) memory.entries.set(podUID, { rule: 'D4 init order', content: !isRefused });
}

/** The operation made each side's status from what its copy shows, too, and the copies differ. */
function openForCopy({ step, theirs, ours, theirSide, ourSide, podUIDs, world }: Pair, { entries, copy }: Memory): void {
  const { op, podUID = '' } = step;
  const pod = world.object(podUID);
  const [theirCopy, ourCopy] = [theirSide, ourSide].map(({ copies }) => copies.get(podUID)?.status);
  const [theirCache, ourCache] = [theirs.cache[podUID], ours.cache[podUID]];
  if (copy === undefined || !podUIDs.has(podUID) || !pod || !theirCopy || !ourCopy || !theirCache || !ourCache) return;
  const differ = (one: WirePodStatus, other: WirePodStatus): boolean =>
    !isDeepStrictEqual(comparable(withoutDisruptionTime(one), false), comparable(withoutDisruptionTime(other), false));
  if (!differ(theirCache, ourCache)) return;
  const isEndedApart = op === 'terminatePod' && isInitialized(pod, theirCopy) !== isInitialized(pod, ourCopy);
  const isReadyApart = op === 'reconcilePodReadiness' && differ(theirCopy, ourCopy);
  if (isEndedApart || isReadyApart) entries.set(podUID, { rule: copy, content: true });
}

/** Why an entry is there on one side alone. */
function whyOneHasIt(pair: Pair, memory: Memory, uid: string): Rule | undefined {
  const { theirs, ours, pod, theirRequests, ourRequests } = pair;
  if (uid in ours.cache) {
    if (pair.world.isStatic(uid) || pair.world.isMirror(uid)) return theirRequests.hasAskedNow(pod) ? 'D13 mirror' : undefined;
    if (theirs.server === undefined && ours.server?.uid === uid) return whyOursIsLate(pair, memory);
    if (theirs.server?.uid === uid || ours.server?.uid === uid) return undefined;
    if (!theirRequests.hasAskedNow(pod)) return undefined;
    if (ourRequests.wasToldOfNoPod(uid)) return 'D8 gone';
    if (hasReadFor(pair, uid)) return undefined;
    return theirRequests.hasRetriedNow(pod) ? 'D1 retry' : 'D5 recreated';
  }
  if (ourRequests.hasFoundNothingToDelete(pod)) return 'D8 gone';
  if (ours.server === undefined && theirs.server?.uid === uid) return whyTheirsIsLate(pair, memory);
  return whyOursFoundAnother(pair, memory, uid) ?? (isVanished(pair, memory, uid) ? 'D11 vanished' : undefined);
}

/** An answer of this step has shown our manager that the name of the pod with this uid belongs to another pod. */
function hasReadFor({ ourRequests, pod, step, podUIDs, ours }: Pair, uid: string): boolean {
  const reads = ourRequests.readsNow(pod);
  return reads > 1 || (reads === 1 && isAboutUID(step, uid, podUIDs, ours.cache));
}

/** Why our manager found another pod under the name: it still had something to write. */
function whyOursFoundAnother({ pod, ours, ourRequests, theirRequests }: Pair, memory: Memory, uid: string): Rule | undefined {
  if (ours.server?.uid === uid || !ourRequests.hasReadNow(pod)) return undefined;
  if (theirRequests.takesForAcknowledged(uid)) return 'D2 entry';
  return memory.unsent.get(uid) ?? (theirRequests.isBehindAfterFailure(pod) ? 'D1 retry' : undefined);
}

/**
 * D11: the pod manager forgot the pod before this batch, nothing of it runs, and the apiserver has had its newest status, has
 * no such pod, or has said so last.
 */
function isVanished({ hasBatch, ourRequests, world, theirs, ours }: Pair, { settled }: Memory, uid: string): boolean {
  const cached = theirs.cache[uid];
  if (cached === undefined || !hasBatch || !ourRequests.isForgotten(uid) || world.couldRun.has(uid)) return false;
  const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses } = cached;
  const containers = [containerStatuses, initContainerStatuses, ephemeralContainerStatuses].flatMap((list) => list ?? []);
  if (containers.some(({ state }) => state?.running)) return false;
  const { server } = ours;
  const isThere = server !== undefined && (server.uid === uid || (world.isStatic(uid) && world.isMirror(server.uid)));
  return !isThere || settled.has(uid) || ourRequests.wasToldOfNoPod(uid);
}

function excuseEntry(pair: Pair, memory: Memory, differences: Differences, uid: string, entry: ApartEntry): void {
  const { rule } = entry;
  const aliases = new Set([uid, ...aliasesOf(pair, uid)]);
  const [isTheirs, isOurs] = [uid in pair.theirs.cache, uid in pair.ours.cache];
  if (isAbout(pair, uid)) {
    noteUpdate(pair, entry, uid);
    differences.excuse(rule, 'notifications', (list) => list.filter(({ podUID }) => podUID !== uid));
    differences.excuse(rule, 'answer', everything);
  }
  const isWhole = !isTheirs || !isOurs || entry.content;
  differences.excuse(rule, 'cache', isWhole ? cachedStatus(aliases) : cachedStatus(aliases, untimed));
  differences.excuse(rule, 'resizeConditions', without(uid));
  if (!isOnServer(pair, memory, uid)) return;
  if (isWhole) differences.excuse(rule, 'server', everything);
  else
    differences.excuseIfAll(
      rule,
      'server',
      serverStatus((status) => untimed(withoutTraces(status, false))),
    );
  if (!differences.has('server')) differences.excuse(rule, 'writes', everything);
}

/**
 * More than times may differ after an update that only one side took, or that each side made from the status it had. A whole
 * status that both sides take ends that.
 */
function noteUpdate({ theirs, ours, step }: Pair, entry: ApartEntry, uid: string): void {
  const [byThem, byUs] = [theirs, ours].map(({ notifications }) => notifications.some(({ podUID }) => podUID === uid));
  if (byThem !== byUs || (byThem && step.op !== 'setPodStatus')) entry.content = true;
  else if (byThem) entry.content = false;
}

function isAbout({ step }: Pair, uid: string): boolean {
  return step.podUID === uid;
}

/** True when the entry's object is on one of the servers, or was when the step began. */
function isOnServer(pair: Pair, memory: Memory, uid: string): boolean {
  return [uid, ...aliasesOf(pair, uid)].some((alias) => memory.serverUIDs.has(alias) || serverUIDs(pair).has(alias));
}

/** A static pod's entry is read under the uid of its mirror, too. */
function aliasesOf({ world, podUIDs }: Pair, uid: string): string[] {
  return world.isStatic(uid) ? [...podUIDs].filter((other) => world.isMirror(other)) : [];
}

/** The uids that the pod's name has on the two servers. */
export function serverUIDs({ theirs, ours }: Pick<Pair, 'theirs' | 'ours'>): Set<string> {
  return new Set([theirs, ours].flatMap(({ server }: View) => (server === undefined ? [] : [server.uid])));
}

function without(uid: string): (conditions: View['resizeConditions']) => unknown {
  return (conditions) => Object.fromEntries(Object.entries(conditions).filter(([podUID]) => podUID !== uid));
}
