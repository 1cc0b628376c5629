import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { falsifyOut } from '../kinds/falsify-out.ts';
import { agrees, runKind } from '../kinds/run-kind.ts';
import { leastShare, liesOfACase, tellLies } from '../kinds/tell-lies.ts';
import { readCases } from '../replay/read-cases.ts';
import { type CacheCase, cacheCaseProblem } from './cache-case.ts';
import { cacheKind, judgeCache } from './cache-kind.ts';
import { playCache } from './play-cache.ts';

const file = fileURLToPath(new URL('../cache-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('cache') ?? []) as readonly CacheCase[];

describe('replay of the cache of pods and nodes', () => {
  it('finds no difference, and excuses nothing', async () => {
    const result = await runKind('cache', cacheKind, cases);
    expect(result).toMatchObject({ cases: 500, differences: [], exemptCases: 0 });
    expect(agrees(result)).toBe(true);
  });

  it('finds a recording that is falsified in one place', async () => {
    const { told, shareFound, missed } = await tellLies(cases, { play: playCache, falsify: falsifyOut, judge: judgeCache });
    expect(told).toBe(cases.length * liesOfACase);
    expect(shareFound, missed.slice(0, 20).join('; ')).toBeGreaterThanOrEqual(leastShare);
  });

  it('finds a step that was left out', async () => {
    const [original] = cases;
    const steps = original?.steps.filter(({ op }) => op !== 'forget') ?? [];
    const outcomes = await playCache({ ...(original as CacheCase), steps });
    expect(judgeCache(original as CacheCase, outcomes)).not.toEqual([]);
  });
});

describe('a line of kind cache', () => {
  it.each([
    [{}, 'a cache case without its time to live'],
    [{ ttlSeconds: 30 }, 'a cache case without steps'],
    [{ ttlSeconds: 30, steps: [{ op: 'advance', seconds: 1 }], out: [] }, 'a cache case without one outcome for each step'],
    [{ ttlSeconds: 30, steps: [{ op: 'toString' }], out: [{}] }, 'step 0: unknown operation "toString"'],
    [{ ttlSeconds: 30, steps: [{ op: 'updatePod', pod: {} }], out: [{}] }, 'step 0: no oldPod'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(cacheCaseProblem({ kind: 'cache', name: 'a', ...value })).toBe(problem);
  });
});
