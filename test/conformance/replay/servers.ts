import { isDeepStrictEqual } from 'node:util';
import type { WirePodStatus } from '../../../src/index.ts';
import { comparable } from './canonical.ts';
import type { Differences } from './excuses.ts';
import { asksForStaticPod, isSecondLook, whyBothMayWait, whyMomentsDiffer, whyOursIsLate, whyTheirsIsLate } from './lateness.ts';
import { everything, type Mask, serverStatus, withoutTraces, writtenStatuses } from './masks.ts';
import type { Memory } from './memory.ts';
import type { Pair } from './pair.ts';
import type { Rule } from './replay-rules.ts';
import { quiet } from './replay-world.ts';
import { utcSecond } from './seconds.ts';
import { isTerminal } from './upstream-merge.ts';

/**
 * Excuses that the two sides wrote at different moments, and that the servers differ meanwhile. Each single write has been
 * checked before; here a write may only be missing, late or early. While a side has something to write, a fact must say why
 * it waits. When neither has, the servers may still differ in traces: what one side wrote and the other did not. The next
 * write, of the manager or of another writer, removes them.
 */
export function excuseServers(pair: Pair, memory: Memory, differences: Differences): void {
  const isWaiting = memory.waited !== undefined || memory.isQuietLeft || memory.heldOnOne;
  const now = differences.has('server') || differences.has('writes') ? whyApart(pair, memory) : undefined;
  const rule = memory.apart ?? memory.waited ?? now;
  let isTraced = true;
  if (!differences.differed.has('server')) memory.apart = undefined;
  else if (rule !== undefined && differences.has('server')) {
    isTraced = excuseTraces(pair, differences, rule);
    if (isTraced) memory.heldOnOne = false;
    memory.apart = isTraced ? rule : (excuseServer(pair, memory, differences, rule) ?? memory.apart);
  }
  if (differences.has('server') || rule === undefined) return;
  // neither side has waited and nothing has failed: both have made the same writes, but for the traces
  const isSame = isTraced && !isWaiting && now === undefined;
  differences.excuse(rule, 'writes', isSame ? writtenStatuses(tracelessIn(pair)) : everything);
}

/** The rule by which the two sides begin to differ in this step. */
function whyApart(pair: Pair, memory: Memory): Rule | undefined {
  const waits = [
    [pair.ourDue, whyOursIsLate(pair, memory)],
    [pair.theirDue, whyTheirsIsLate(pair, memory)],
  ] as const;
  const late = waits.find(([due, why]) => due !== 'nothing' && why !== undefined)?.[1];
  const looked = isSecondLook(pair) ? 'D12 second look' : asksForStaticPod(pair) ? 'D13 mirror' : undefined;
  return late ?? whyMomentsDiffer(pair) ?? looked;
}

/** Neither side has anything to write. Only traces are left: what one side wrote and the other did not. */
function excuseTraces(pair: Pair, differences: Differences, rule: Rule): boolean {
  const traceless = tracelessIn(pair);
  if (differences.excuseIfAll(rule, 'server', serverStatus(traceless))) return true;
  if (pair.ourDue !== 'quiet' && pair.theirDue !== 'quiet') return false;
  const still: Mask<'server'> = serverStatus((status) => quiet(traceless(status)));
  return differences.excuseIfAll(rule, 'server', still);
}

function tracelessIn(pair: Pair): (status: WirePodStatus) => WirePodStatus {
  const isHeldBack = heldBack(pair) === 'on both';
  return (status) => withoutTraces(status, isHeldBack);
}

/** One side still has to write, or will never write, and a fact says why. */
function excuseServer(pair: Pair, memory: Memory, differences: Differences, rule: Rule): Rule | undefined {
  if (heldBack(pair) === 'on one') memory.heldOnOne = true;
  else if (pair.hasBatch) memory.heldOnOne = false;
  const late = whyBothMayWait(pair, memory) ?? (wouldWriteTheSame(pair) ? memory.apart : undefined);
  if (late === undefined && !memory.heldOnOne && !isOrphaned(pair, memory) && !isDeletedOnOne(pair, memory)) return undefined;
  differences.excuse(late ?? rule, 'server', everything);
  return late ?? rule;
}

/** The status that was not written in time has no entry on either side any more. */
function isOrphaned({ theirs, ours }: Pair, { orphaned }: Memory): boolean {
  const uid = ours.server?.uid;
  return uid !== undefined && orphaned.has(uid) && !(uid in ours.cache) && !(uid in theirs.cache);
}

/**
 * The servers have differed since one side deleted the pod, which was due there. Either our manager deleted it, and upstream
 * was late or refused a status that our manager took; or upstream deleted it, and our manager was late and its agent has set
 * another status since. What that one can write since its containers ended, the next batch finds.
 */
function isDeletedOnOne({ theirs, ours, ourDue, world }: Pair, { apart }: Memory): boolean {
  if (apart === undefined || (theirs.server === undefined) === (ours.server === undefined)) return false;
  if (ours.server === undefined) return true;
  const mayWait = (ourDue !== 'patch' && ourDue !== 'delete') || world.isReleased(ours.server.uid);
  return ours.server.uid in ours.cache && mayWait;
}

/**
 * A terminal phase waits until no container can run. When both sides wait, phase, reason and message stay the server's. When
 * one side waits, the other had written the phase before containers could run.
 */
function heldBack({ world, theirs, ours }: Pair): 'on both' | 'on one' | undefined {
  const uid = ours.server?.uid;
  if (uid === undefined || theirs.server?.uid !== uid || !world.couldRun.has(uid) || !isTerminal(ours.cache[uid]?.phase))
    return undefined;
  const ended = [theirs, ours].filter(({ server }) => isTerminal(server?.status.phase)).length;
  return ended === 0 ? 'on both' : ended === 1 ? 'on one' : undefined;
}

/** Both sides have something to write, and both writes would leave the same status. */
function wouldWriteTheSame({ theirs, ours, theirDue, ourDue, world, pod, now }: Pair): boolean {
  if (theirDue === 'nothing' || ourDue === 'nothing') return false;
  const [theirNext, ourNext] = [theirs, ours].map(({ server, cache }) => {
    const cached = server && cache[server.uid];
    return server && cached && comparable(withoutTraces(world.written(pod, server, cached, utcSecond(now)), false), false);
  });
  return ourNext !== undefined && isDeepStrictEqual(theirNext, ourNext);
}
