import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { judgeRefs } from './judge-refs.ts';
import { playRefs } from './play-refs.ts';
import { refsCaseProblem } from './refs-case.ts';

/** Recordings of the kubelet's managers of secrets and config maps. */
export const refsKind = replayedKind({ problem: refsCaseProblem, play: playRefs, judge: judgeRefs, falsify: falsifyExpect });
