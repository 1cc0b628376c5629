import { falsifyOut } from '../kinds/falsify-out.ts';
import { isEmpty, memberDifferences, membersUnless } from '../kinds/member-differences.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { type ExtendedCase, type ExtendedOutcome, extendedCaseProblem } from './extended-case.ts';
import { playExtended } from './play-extended.ts';

/** Recordings of attempts in which several extenders have a say. */
export const extendedKind = replayedKind({
  problem: extendedCaseProblem,
  play: playExtended,
  judge: judgeExtended,
  falsify: falsifyOut,
});

/** What differs, member by member. There is no exemption. */
function judgeExtended({ out }: ExtendedCase, played: ExtendedOutcome): string[] {
  return memberDifferences(membersUnless(isLeftOut, out), membersUnless(isLeftOut, played));
}

function isLeftOut(value: unknown): boolean {
  return value === null || isEmpty(value);
}
