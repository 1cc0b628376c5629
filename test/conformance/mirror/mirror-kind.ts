import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { mirrorCaseProblem } from './mirror-case.ts';
import { playMirror } from './play-mirror.ts';

/** Recordings of the kubelet's mirror client. */
export const mirrorKind = replayedKind({
  problem: mirrorCaseProblem,
  play: playMirror,
  judge: judgeSteps,
  falsify: falsifyExpect,
});
