import { falsifyOut } from '../kinds/falsify-out.ts';
import { memberDifferences } from '../kinds/member-differences.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { playVolumeHints } from './play-volume-hints.ts';
import { type RecordedAnswers, type VolumeHintsCase, volumeHintsCaseProblem } from './volume-hints-case.ts';

/** Recordings of which changes of volumes, claims and what belongs to them wake a pod. */
export const volumeHintsKind = replayedKind({
  problem: volumeHintsCaseProblem,
  play: playVolumeHints,
  judge: judgeVolumeHints,
  falsify: falsifyOut,
});

/** What differs, event by event. There is no exemption. */
export function judgeVolumeHints({ events, out }: VolumeHintsCase, played: readonly RecordedAnswers[]): string[] {
  if (out.length !== played.length) return [`${out.length} answers to ${played.length} events`];
  return events.flatMap(({ resource, action }, index) =>
    memberDifferences({ ...out[index] }, { ...played[index] }).map((what) => `event ${index} (${resource} ${action}): ${what}`),
  );
}
