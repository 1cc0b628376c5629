import { falsifyOut } from '../kinds/falsify-out.ts';
import { isEmpty, memberDifferences, membersUnless } from '../kinds/member-differences.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { playVolumes } from './play-volumes.ts';
import { type VolumesCase, type VolumesOutcome, volumesCaseProblem } from './volumes-case.ts';

/** Recordings of how the scheduler judges nodes for pods with volumes, and what it takes for them. */
export const volumesKind = replayedKind({
  problem: volumesCaseProblem,
  play: playVolumes,
  judge: judgeVolumes,
  falsify: falsifyOut,
});

/** What differs, member by member. There is no exemption. */
export function judgeVolumes({ out }: VolumesCase, played: VolumesOutcome): string[] {
  return memberDifferences(membersOf(out), membersOf(played));
}

function membersOf({ judged, reserved }: VolumesOutcome): Readonly<Record<string, unknown>> {
  return { ...membersUnless(isEmpty, judged ?? {}), ...(reserved && { reserved }) };
}
