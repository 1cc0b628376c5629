import { falsifyOut } from '../kinds/falsify-out.ts';
import { isEmpty, memberDifferences, membersUnless } from '../kinds/member-differences.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { type FilterScoreCase, type FilterScoreOutcome, filterScoreCaseProblem } from './filter-score-case.ts';
import { playFilterScore } from './play-filter-score.ts';

/** Recordings of how the scheduler judges nodes for a pod: which fit, why others do not, and what each is worth. */
export const filterScoreKind = replayedKind({
  problem: filterScoreCaseProblem,
  play: playFilterScore,
  judge: judgeFilterScore,
  falsify: falsifyOut,
});

/** What differs, member by member. There is no exemption. */
export function judgeFilterScore({ out }: FilterScoreCase, played: FilterScoreOutcome): string[] {
  return memberDifferences(membersUnless(isEmpty, out), membersUnless(isEmpty, played));
}
