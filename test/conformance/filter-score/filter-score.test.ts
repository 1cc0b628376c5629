import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findNodesThatFit } from '../../../src/scheduler/cycle/algorithm.ts';
import { CycleState } from '../../../src/scheduler/framework/cycle-state.ts';
import { createPodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { readCases } from '../replay/read-cases.ts';
import { frameworkOf } from './cluster.ts';
import { type FilterScoreCase, filterScoreCaseProblem } from './filter-score-case.ts';
import { judgeFilterScore } from './filter-score-kind.ts';
import { judgedNodes, playFilterScore } from './play-filter-score.ts';

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

  it('finds no difference, and the same totals, where what the plugins say of nodes is kept', () => {
    let compared = 0;
    for (const recorded of cases) {
      const framework = frameworkOf(recorded);
      const pod = createPodInfo(recorded.pod);
      for (let turn = 0; turn < 3; turn += 1) {
        expect(judgeFilterScore(recorded, judgedNodes(framework, pod, new CycleState()).judged)).toEqual([]);
        const state = new CycleState();
        const { feasible, places } = findNodesThatFit(framework, state, pod, 0);
        if (places === undefined || feasible.length === 0) continue;
        const totals = framework.kept.totals(state, pod, framework.snapshot(), feasible, places);
        const expected = judgedNodes(framework, pod, new CycleState()).judged.feasible ?? {};
        expect(totals).toEqual(feasible.map(({ name }) => expected[name]?.total));
        compared += totals.length;
      }
    }
    expect(compared).toBeGreaterThan(5000);
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
