import type { CaseKind, CaseResult } from '../kinds/case-kind.ts';
import { type MirrorCase, mirrorCaseProblem } from './case.ts';
import { judgeMirror } from './judge.ts';
import { playMirror } from './player.ts';

/** Recordings of the kubelet's mirror client. */
export const mirrorKind: CaseKind<MirrorCase> = { problem: mirrorCaseProblem, replay: replayMirror };

export async function replayMirror(recorded: MirrorCase): Promise<CaseResult> {
  return { differences: judgeMirror(recorded, await playMirror(recorded)), exemptions: [] };
}
