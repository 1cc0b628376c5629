import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { backoffCaseProblem } from './backoff-case.ts';
import { playBackoff } from './play-backoff.ts';

/** Recordings of how the kubelet delays the restarts of containers. */
export const backoffKind = replayedKind({
  problem: backoffCaseProblem,
  play: playBackoff,
  judge: judgeSteps,
  falsify: falsifyExpect,
});
