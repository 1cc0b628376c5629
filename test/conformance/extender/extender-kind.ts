import { falsifyOut } from '../kinds/falsify-out.ts';
import { isEmpty, memberDifferences, membersUnless } from '../kinds/member-differences.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { type ExtenderCase, type ExtenderOutcome, extenderCaseProblem } from './extender-case.ts';
import { playExtender } from './play-extender.ts';

/** Recordings of what the scheduler asks extenders, byte by byte, and of what it makes of their answers. */
export const extenderKind = replayedKind({
  problem: extenderCaseProblem,
  play: playExtender,
  judge: judgeExtender,
  falsify: falsifyOut,
});

/** What differs, member by member. There is no exemption. */
function judgeExtender({ out }: ExtenderCase, played: ExtenderOutcome): string[] {
  return memberDifferences(membersUnless(isLeftOut, withPrecedence(out)), membersUnless(isLeftOut, withPrecedence(played)));
}

function isLeftOut(value: unknown): boolean {
  return value === null || value === 0 || isEmpty(value);
}

/** A node that is said to have failed for good counts as that alone: so the caller of upstream's extender has it. */
function withPrecedence(out: ExtenderOutcome): ExtenderOutcome {
  const { refused, unresolved } = out;
  const forNow = Object.entries(refused ?? {}).filter(([name]) => !Object.hasOwn(unresolved ?? {}, name));
  return { ...out, refused: Object.fromEntries(forNow) };
}
