import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCases } from '../replay/read-cases.ts';
import { type FilterScoreCase, filterScoreCaseProblem } from './filter-score-case.ts';
import { judgeFilterScore } from './filter-score-kind.ts';
import { playFilterScore } from './play-filter-score.ts';

const file = fileURLToPath(new URL('../filterScore-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('filterScore') ?? []) as readonly FilterScoreCase[];

describe('replay of how the scheduler judges nodes', () => {
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
