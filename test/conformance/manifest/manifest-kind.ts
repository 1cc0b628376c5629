import type { CaseKind, CaseResult } from '../kinds/case-kind.ts';
import { judgeManifest } from './judge-manifest.ts';
import { type ManifestCase, manifestCaseProblem } from './manifest-case.ts';
import { playManifest } from './play-manifest.ts';

/** Recordings of how the kubelet reads the manifests of static pods. */
export const manifestKind: CaseKind<ManifestCase> = { problem: manifestCaseProblem, replay: replayManifest };

async function replayManifest(recorded: ManifestCase): Promise<CaseResult> {
  return { differences: judgeManifest(recorded, playManifest(recorded)), exemptions: [] };
}
