import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { configCaseProblem } from './config-case.ts';
import { playConfig } from './play-config.ts';

/** Recordings of the kubelet's pod config. */
export const configKind = replayedKind({
  problem: configCaseProblem,
  play: playConfig,
  judge: judgeSteps,
  falsify: falsifyExpect,
});
