import { falsifyOut } from '../kinds/falsify-out.ts';
import { isEmpty, memberDifferences, membersUnless } from '../kinds/member-differences.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { playPreempt } from './play-preempt.ts';
import { type PreemptCase, type PreemptOutcome, preemptCaseProblem } from './preempt-case.ts';

/** Recordings of how the scheduler makes room for a pod that fits nowhere. */
export const preemptKind = replayedKind({
  problem: preemptCaseProblem,
  play: playPreempt,
  judge: judgePreempt,
  falsify: falsifyOut,
});

/** What differs, member by member. There is no exemption. */
export function judgePreempt({ out }: PreemptCase, played: PreemptOutcome): string[] {
  return memberDifferences(membersUnless(isLeftOut, out), membersUnless(isLeftOut, played));
}

function isLeftOut(value: unknown): boolean {
  return value === false || isEmpty(value);
}
