import type { CaseKind, CaseResult } from '../kinds/case-kind.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { type MirrorCase, mirrorCaseProblem } from './mirror-case.ts';
import { playMirror } from './play-mirror.ts';

/** Recordings of the kubelet's mirror client. */
export const mirrorKind: CaseKind<MirrorCase> = { problem: mirrorCaseProblem, replay: replayMirror };

async function replayMirror(recorded: MirrorCase): Promise<CaseResult> {
  return { differences: judgeSteps(recorded, await playMirror(recorded)), exemptions: [] };
}
