import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { judgeProbes } from './judge-probes.ts';
import { playProbes } from './play-probes.ts';
import { probeCaseProblem } from './probe-case.ts';

/** Recordings of the kubelet's probe manager. */
export const probeKind = replayedKind({
  problem: probeCaseProblem,
  play: playProbes,
  judge: judgeProbes,
  falsify: falsifyExpect,
});
