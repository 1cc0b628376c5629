import { describe, expect, it } from 'vitest';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import type { Plugin } from '../../../../src/scheduler/framework/plugin.ts';
import { frameworkWith, nodeInfo, podInfo } from '../framework-world.ts';

const pod = podInfo('web');
const nodes = ['n1', 'n2', 'n10'].map((name) => nodeInfo(name));
const byName: Plugin = { name: 'ByName', score: (_state, _pod, { name }) => Number(name.slice(1)) };

describe('the worth of nodes', () => {
  it('is the sum of the normalised scores times the weights', () => {
    const reversed: Plugin = {
      ...byName,
      name: 'Reversed',
      normalizeScores(_state, _pod, scores, given) {
        expect(given).toBe(nodes);
        for (const [index, score] of scores.entries()) scores[index] = 100 - score;
      },
    };
    const { scores } = frameworkWith([byName, reversed], { weights: new Map([['Reversed', 2]]) });
    expect(scores.score(new CycleState(), pod, nodes)).toEqual({
      totals: [199, 198, 190],
      plugins: [
        { plugin: 'ByName', weight: 1, raw: [1, 2, 10], normalized: [1, 2, 10] },
        { plugin: 'Reversed', weight: 2, raw: [1, 2, 10], normalized: [99, 98, 90] },
      ],
    });
  });

  it('leaves out a plugin that skips the pod in preScore', () => {
    const skipping: Plugin = { ...byName, name: 'Skipping', preScore: () => 'skip' };
    const { scores } = frameworkWith([skipping, { ...byName, preScore: () => undefined }]);
    const state = new CycleState();
    scores.preScore(state, pod, nodes);
    expect(scores.score(state, pod, nodes)).toMatchObject({ totals: [1, 2, 10], plugins: [{ plugin: 'ByName' }] });
  });
});
