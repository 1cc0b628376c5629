import { isDeepStrictEqual } from 'node:util';
import type { WirePodCondition, WirePodStatus } from '../../../src/index.ts';
import { comparable } from './canonical.ts';
import type { Differences } from './excuses.ts';
import { mayWait } from './lateness.ts';
import { cachedStatus, everything, serverStatus, withoutResizeConditions, writtenStatuses } from './masks.ts';
import type { Memory } from './memory.ts';
import type { Pair, View } from './pair.ts';
import type { Rule } from './replay-rules.ts';
import { isResizeCondition } from './resize-rules.ts';

/**
 * Resize conditions that a backfill took over from two copies that differ, or that went with an entry on one side; and what
 * follows from them: answers, and the resize conditions of statuses that are set with them. Whether a side did right with the
 * conditions and the copy it had, `Side` has checked. This ends when nothing shows two different resize conditions of the pod.
 */
export function excuseResizes(pair: Pair, memory: Memory, differences: Differences): void {
  for (const uid of pair.podUIDs) {
    const rule = memory.resizes.get(uid) ?? whyApart(pair, memory, uid);
    if (rule === undefined) continue;
    excuseResizesOf(pair, memory, differences, uid, rule);
    if (isDeepStrictEqual(shownResizes(pair.theirs, uid), shownResizes(pair.ours, uid))) memory.resizes.delete(uid);
    else memory.resizes.set(uid, rule);
  }
}

/** Why the two sides begin to hold different resize conditions in this step. */
function whyApart(pair: Pair, { copy, entries }: Memory, uid: string): Rule | undefined {
  if (isBackfilledApart(pair, uid)) return copy;
  const [theirs, ours] = [pair.theirs, pair.ours].map(({ resizeConditions }) => comparable(resizeConditions[uid], true));
  return isDeepStrictEqual(theirs, ours) ? undefined : entries.get(uid)?.rule;
}

/** The two pod managers show different resize conditions of a pod that is backfilled. */
function isBackfilledApart({ step, theirSide, ourSide }: Pair, uid: string): boolean {
  if (step.op !== 'backfillPodResizeConditions' || !step.podUIDs?.includes(uid)) return false;
  const [theirs, ours] = [theirSide, ourSide].map(({ copies }) => comparable(resizeConditionsIn(copies.get(uid)?.status), true));
  return !isDeepStrictEqual(theirs, ours);
}

function excuseResizesOf(pair: Pair, memory: Memory, differences: Differences, uid: string, rule: Rule): void {
  const { step } = pair;
  differences.excuse(rule, 'resizeConditions', (conditions) => ({ ...conditions, [uid]: undefined }));
  differences.excuse(rule, 'cache', cachedStatus(new Set([uid]), withoutResizeConditions));
  if (step.podUID === uid && step.op.includes('PodResize')) differences.excuse(rule, 'answer', everything);
  if (step.podUID === uid && step.op === 'setPodStatus' && isToldByResizes(pair, uid)) {
    differences.excuse(rule, 'answer', everything);
    differences.excuse(rule, 'notifications', (list) => list.filter(({ podUID }) => podUID !== uid));
  }
  const isOnServers = [pair.theirs, pair.ours].every(({ server }) => server?.uid === uid);
  if (!isOnServers || !mayWait(pair, memory)) return;
  differences.excuse(rule, 'server', serverStatus(withoutResizeConditions));
  differences.excuse(rule, 'writes', writtenStatuses(withoutResizeConditions));
  // a status that was new on one side alone, for its resize conditions, was written by that side alone
  if (!differences.has('server')) differences.excuse(rule, 'writes', everything);
}

/**
 * Only one side took the status for a new one. There the cached resize conditions have become others; on the other side they
 * were those of the status already.
 */
function isToldByResizes({ theirs, ours, theirSide, ourSide, step }: Pair, uid: string): boolean {
  const told = [theirs, ours].map(({ notifications }) => notifications.some(({ podUID }) => podUID === uid));
  return [theirs, ours].every(({ cache }, index) => {
    const side = index === 0 ? theirSide : ourSide;
    const [before, after] = [side.cache[uid], cache[uid]].map(said);
    const own = step.withResizeConditions ? (side.resizeConditions[uid] ?? []) : [];
    const set = said({ conditions: [...own, ...(step.status?.conditions ?? [])] });
    return told[index] ? !isDeepStrictEqual(before, after) : isDeepStrictEqual(after, set);
  });
}

/** What of the resize conditions makes a status a new one. */
function said(status: WirePodStatus | undefined): unknown {
  const conditions = resizeConditionsIn(status).map(({ type, status: value, reason, message }) => [type, value, reason, message]);
  return comparable(conditions, false);
}

/** Where the resize conditions of the pod show. */
function shownResizes({ resizeConditions, cache, server }: View, uid: string): unknown {
  const stored = server?.uid === uid ? server.status : undefined;
  return comparable([resizeConditions[uid] ?? [], resizeConditionsIn(cache[uid]), resizeConditionsIn(stored)], true);
}

function resizeConditionsIn(status: WirePodStatus | undefined): WirePodCondition[] {
  const conditions = status?.conditions?.filter(isResizeCondition) ?? [];
  return conditions.toSorted((a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0));
}
