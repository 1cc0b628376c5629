import { falsifyOut } from '../kinds/falsify-out.ts';
import { isEmpty, memberDifferences, membersUnless } from '../kinds/member-differences.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { playVolumesClassic } from './play-volumes-classic.ts';
import { type VolumesClassicCase, type VolumesClassicOutcome, volumesClassicProblem } from './volumes-classic-case.ts';

/** Recordings of how the classic scheduler judges nodes for pods with volumes under a policy file, and what it takes for them. */
export const volumesClassicKind = replayedKind({
  problem: volumesClassicProblem,
  play: playVolumesClassic,
  judge: judgeVolumesClassic,
  falsify: falsifyOut,
});

/** What differs, member by member. There is no exemption. */
export function judgeVolumesClassic({ out }: VolumesClassicCase, played: VolumesClassicOutcome): string[] {
  return memberDifferences(membersOf(out), membersOf(played));
}

function membersOf({ judged, reserved }: VolumesClassicOutcome): Readonly<Record<string, unknown>> {
  return { ...membersUnless(isEmpty, judged ?? {}), ...(reserved && { reserved }) };
}
