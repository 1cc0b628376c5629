import type { CaseKind, CaseResult } from '../kinds/case-kind.ts';
import { judgeProbes } from './judge-probes.ts';
import { playProbes } from './play-probes.ts';
import { type ProbeCase, probeCaseProblem } from './probe-case.ts';

/** Recordings of the kubelet's probe manager. */
export const probeKind: CaseKind<ProbeCase> = { problem: probeCaseProblem, replay: replayProbes };

async function replayProbes(recorded: ProbeCase): Promise<CaseResult> {
  return { differences: judgeProbes(recorded, await playProbes(recorded)), exemptions: [] };
}
