import type { CaseKind, CaseResult } from '../kinds/case-kind.ts';
import { judgeRefs } from './judge-refs.ts';
import { playRefs } from './play-refs.ts';
import { type RefsCase, refsCaseProblem } from './refs-case.ts';

/** Recordings of the kubelet's managers of secrets and config maps. */
export const refsKind: CaseKind<RefsCase> = { problem: refsCaseProblem, replay: replayRefs };

async function replayRefs(recorded: RefsCase): Promise<CaseResult> {
  return { differences: judgeRefs(recorded, await playRefs(recorded)), exemptions: [] };
}
