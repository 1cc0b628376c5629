import type { CaseKind, CaseResult } from '../kinds/case-kind.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { playWorkers } from './play-workers.ts';
import { type WorkersCase, workersCaseProblem } from './workers-case.ts';

/** Recordings of the kubelet's pod workers. */
export const workersKind: CaseKind<WorkersCase> = { problem: workersCaseProblem, replay: replayWorkers };

async function replayWorkers(recorded: WorkersCase): Promise<CaseResult> {
  return { differences: judgeSteps(recorded, await playWorkers(recorded)), exemptions: [] };
}
