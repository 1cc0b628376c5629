import type { CaseKind, CaseResult } from '../kinds/case-kind.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { type BackoffCase, backoffCaseProblem } from './backoff-case.ts';
import { playBackoff } from './play-backoff.ts';

/** Recordings of how the kubelet delays the restarts of containers. */
export const backoffKind: CaseKind<BackoffCase> = { problem: backoffCaseProblem, replay: replayBackoff };

async function replayBackoff(recorded: BackoffCase): Promise<CaseResult> {
  return { differences: judgeSteps(recorded, await playBackoff(recorded)), exemptions: [] };
}
