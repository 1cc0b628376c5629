import { falsifyOut } from '../kinds/falsify-out.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { type CacheCase, type CacheOutcome, cacheCaseProblem } from './cache-case.ts';
import { playCache } from './play-cache.ts';

/** Recordings of the classic scheduler's cache of pods and nodes. */
export const cacheKind = replayedKind({ problem: cacheCaseProblem, play: playCache, judge: judgeCache, falsify: falsifyOut });

/** What differs, step by step. */
function judgeCache({ steps, out }: CacheCase, outcomes: readonly CacheOutcome[]): string[] {
  const told = out.map((expect, index) => ({ op: steps[index]?.op ?? 'no such step', expect }));
  return judgeSteps({ steps: told }, outcomes);
}
