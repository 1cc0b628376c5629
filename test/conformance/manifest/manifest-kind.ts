import { replayedKind } from '../kinds/replayed-kind.ts';
import { falsifyManifest } from './falsify-manifest.ts';
import { judgeManifest } from './judge-manifest.ts';
import { manifestCaseProblem } from './manifest-case.ts';
import { playManifest } from './play-manifest.ts';

/** Recordings of how the kubelet reads the manifests of static pods. */
export const manifestKind = replayedKind({
  problem: manifestCaseProblem,
  play: playManifest,
  judge: judgeManifest,
  falsify: falsifyManifest,
});
