import { replayedKind } from '../kinds/replayed-kind.ts';
import { falsifyStatuses } from './falsify-statuses.ts';
import { judgeStatuses } from './judge-statuses.ts';
import { playStatuses } from './play-statuses.ts';
import { statusesCaseProblem } from './statuses-case.ts';

/** Recordings of the kubelet's statuses from a runtime's view. */
export const statusesKind = replayedKind({
  problem: statusesCaseProblem,
  play: playStatuses,
  judge: judgeStatuses,
  falsify: falsifyStatuses,
});
