import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { falsifyOut } from '../kinds/falsify-out.ts';
import { agrees, runKind } from '../kinds/run-kind.ts';
import { leastShare, liesOfACase, tellLies } from '../kinds/tell-lies.ts';
import { readCases } from '../replay/read-cases.ts';
import { type FilterScoreCase, filterScoreCaseProblem } from './filter-score-case.ts';
import { filterScoreKind, judgeFilterScore } from './filter-score-kind.ts';
import { playFilterScore } from './play-filter-score.ts';

const file = fileURLToPath(new URL('../filterScore-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('filterScore') ?? []) as readonly FilterScoreCase[];

describe('replay of how the scheduler judges nodes', () => {
  it('finds no difference, and excuses nothing', async () => {
    const result = await runKind('filterScore', filterScoreKind, cases);
    expect(result).toMatchObject({ cases: 800, differences: [], exemptCases: 0 });
    expect(agrees(result)).toBe(true);
  });

  it('finds a recording that is falsified in one place', async () => {
    const { told, shareFound, missed } = await tellLies(cases, {
      play: playFilterScore,
      falsify: falsifyOut,
      judge: judgeFilterScore,
    });
    expect(told).toBe(cases.length * liesOfACase);
    expect(shareFound, missed.slice(0, 20).join('; ')).toBeGreaterThanOrEqual(leastShare);
  });

  it('finds a node and arguments that were left out', () => {
    const [first] = cases;
    const { nodes } = first as FilterScoreCase;
    expect(
      judgeFilterScore(first as FilterScoreCase, playFilterScore({ ...first, nodes: nodes.slice(1) } as FilterScoreCase)),
    ).not.toEqual([]);
    const configured = cases.filter(({ pluginConfig }) => pluginConfig !== undefined);
    const noticed = configured.filter((original) => {
      const { pluginConfig: _, ...withoutArguments } = original;
      return judgeFilterScore(original, playFilterScore(withoutArguments)).length > 0;
    });
    expect(noticed.length / configured.length).toBeGreaterThan(0.5);
  });
});

describe('a line of kind filterScore', () => {
  it.each([
    [{}, 'a filterScore case without nodes'],
    [{ nodes: [] }, 'a filterScore case without a pod'],
    [{ nodes: [], pod: {} }, 'a filterScore case without an outcome'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(filterScoreCaseProblem({ kind: 'filterScore', name: 'a', ...value })).toBe(problem);
  });
});
