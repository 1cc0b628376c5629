import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { evictionCaseProblem } from './eviction-case.ts';
import { playEviction } from './play-eviction.ts';

/** Recordings of what the kubelet's eviction manager does while the numbers of a node change. */
export const evictionKind = replayedKind({
  problem: evictionCaseProblem,
  play: playEviction,
  judge: judgeSteps,
  falsify: falsifyExpect,
});
