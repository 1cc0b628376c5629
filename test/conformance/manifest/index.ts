import type { CaseKind, CaseResult } from '../kinds/case-kind.ts';
import { type ManifestCase, manifestCaseProblem } from './manifest-case.ts';
import { judgeManifest } from './manifest-judge.ts';
import { playManifest } from './manifest-player.ts';

/** Recordings of how the kubelet reads the manifests of static pods. */
export const manifestKind: CaseKind<ManifestCase> = { problem: manifestCaseProblem, replay: replayManifest };

async function replayManifest(recorded: ManifestCase): Promise<CaseResult> {
  return { differences: judgeManifest(recorded, playManifest(recorded)), exemptions: [] };
}
