import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { playWorkers } from './play-workers.ts';
import { type WorkersCase, workersCaseProblem } from './workers-case.ts';

/** Recordings of the kubelet's pod workers. */
export const workersKind = replayedKind({
  problem: workersCaseProblem,
  play: (recorded: WorkersCase) => playWorkers(recorded),
  judge: judgeSteps,
  falsify: falsifyExpect,
});
