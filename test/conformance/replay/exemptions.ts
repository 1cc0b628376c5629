import { disruptionTime, withoutDisruptionTime } from './disruption-times.ts';
import { excuseEntries } from './entries.ts';
import type { Differences } from './excuses.ts';
import type { OutOfOrder } from './init-order.ts';
import { cachedStatus, everything } from './masks.ts';
import type { Memory } from './memory.ts';
import type { Pair } from './pair.ts';
import { excuseResizes } from './resizes.ts';
import { excuseServers } from './servers.ts';

/** Lets every rule take what it explains out of the differences of a pair. What is left is a difference that no rule explains. */
export function excuseWhatRulesExplain(
  pair: Pair,
  memory: Memory,
  differences: Differences,
  disorder: OutOfOrder | undefined,
): void {
  excuseEntries(pair, memory, differences, disorder);
  excuseDisruptionTime(pair, differences);
  excuseResizes(pair, memory, differences);
  const { op } = pair.step;
  const copy = op === 'reconcilePodReadiness' ? memory.copy : op === 'setPodStatus' ? memory.deletionOnOne : undefined;
  if (copy !== undefined) excuseLookAtCopy(pair, copy, differences);
  excuseServers(pair, memory, differences);
}

/** Upstream's merge writes a new time into the cached condition. The recording shows that time even in steps before the merge. */
function excuseDisruptionTime({ podUIDs, theirs, disruptionTimes }: Pair, differences: Differences): void {
  const uids = [...podUIDs].filter((uid) => disruptionTimes.has(disruptionTime(theirs.cache[uid])));
  differences.excuse('D6 disruption time', 'cache', cachedStatus(new Set(uids), withoutDisruptionTime));
}

/** The two pod managers hold copies that differ. So two answers may differ: whether readiness is to be computed again, and whether an equal status is new. */
function excuseLookAtCopy({ step }: Pair, rule: NonNullable<Memory['copy']>, differences: Differences): void {
  differences.excuse(rule, 'answer', everything);
  differences.excuse(rule, 'notifications', (list) => list.filter(({ podUID }) => podUID !== step.podUID));
}
