import type { CaseKind, CaseResult } from '../kinds/case-kind.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { type CacheCase, type CacheOutcome, cacheCaseProblem } from './cache-case.ts';
import { playCache } from './play-cache.ts';

/** Recordings of the classic scheduler's cache of pods and nodes. */
export const cacheKind: CaseKind<CacheCase> = { problem: cacheCaseProblem, replay: replayCache };

async function replayCache(recorded: CacheCase): Promise<CaseResult> {
  return { differences: judgeCache(recorded, await playCache(recorded)), exemptions: [] };
}

/** What differs, step by step. */
export function judgeCache({ steps, out }: CacheCase, outcomes: readonly CacheOutcome[]): string[] {
  const told = out.map((expect, index) => ({ op: steps[index]?.op ?? 'no such step', expect }));
  return judgeSteps({ steps: told }, outcomes);
}
