import { describe, expect, it } from 'vitest';
import { bestCandidates } from '../../../../src/scheduler/preemption/candidates.ts';
import { type PodShape, podOf } from './preemption-world.ts';

const now = Date.parse('2000-01-01T00:01:00Z');

function best(nodes: Readonly<Record<string, readonly PodShape[]>>, violations: Readonly<Record<string, number>> = {}): string[] {
  const candidates = Object.entries(nodes).map(([nodeName, victims]) => ({
    nodeName,
    victims: victims.map(podOf),
    budgetViolations: violations[nodeName] ?? 0,
  }));
  return bestCandidates(candidates, now).map(({ nodeName }) => nodeName);
}

describe('the best node to preempt on', () => {
  const pod = (name: string, priority: number, started = 0): PodShape => ({ name, priority, started });

  it.each([
    ['violates the fewest budgets', { a: [pod('a', 0)], b: [pod('b', 9)] }, { a: 1 }, ['b']],
    ['then has the lowest of highest priorities', { a: [pod('a', 5)], b: [pod('b', 4), pod('c', 4)] }, {}, ['b']],
    ['then the lowest sum of priorities', { a: [pod('a', 5), pod('b', 4)], b: [pod('c', 5), pod('d', 3)] }, {}, ['b']],
    ['counts a victim of negative priority in that sum', { a: [pod('a', -5), pod('b', -9)], b: [pod('c', -5)] }, {}, ['b']],
    ['then the fewest victims', { a: [pod('a', 5), pod('b', -(2 ** 31))], b: [pod('c', 5)] }, {}, ['b']],
    [
      'then those that were started last, of the most important',
      { a: [pod('a', 5, 10), pod('b', 0, 1)], b: [pod('c', 5, 9), pod('d', 0, 50)] },
      {},
      ['a'],
    ],
    [
      'compares the first of the most important that was started',
      { a: [pod('a', 5, 1), pod('b', 5, 50)], b: [pod('c', 5, 2), pod('d', 5, 3)] },
      {},
      ['b'],
    ],
    ['is one of several that cost the same', { a: [pod('a', 5)], b: [pod('b', 5)], c: [pod('c', 6)] }, {}, ['a', 'b']],
    ['is none of none', {}, {}, []],
  ])('%s', (_name, nodes, violations, expected) => {
    expect(best(nodes as never, violations)).toEqual(expected);
  });
});
