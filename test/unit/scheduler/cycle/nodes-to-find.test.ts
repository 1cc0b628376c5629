import { describe, expect, it } from 'vitest';
import { bestHosts, nodesToFind, selectHost } from '../../../../src/scheduler/cycle/algorithm.ts';

describe('how many feasible nodes are looked for', () => {
  it.each([
    [10, 0, 10],
    [99, 5, 99],
    [100, 1, 100],
    [150, 100, 150],
    [1000, 0, 420],
    [1000, 40, 400],
    [1000, 2, 100],
    [5000, 0, 500],
    [6000, 0, 300],
    [6000, 40, 2400],
    [20_000, 0, 1000],
  ])('%d nodes, %d per cent: %d', (nodes, percentage, expected) => {
    expect(nodesToFind(nodes, percentage)).toBe(expected);
  });
});

describe('the host', () => {
  it('is one with the highest total, by chance where there are several', () => {
    expect(bestHosts([1, 3, 2, 3])).toEqual([1, 3]);
    expect([0, 0.49, 0.5, 0.99].map((random) => selectHost([1, 3, 2, 3], () => random))).toEqual([1, 1, 3, 3]);
    expect(selectHost([-5, -7], () => 0)).toBe(0);
    expect(selectHost([], () => 0)).toBe(-1);
  });

  it.each([Number.NaN, 1, 7, -1])('is one of the best even where the random number is %d', (random) => {
    expect([1, 3]).toContain(selectHost([1, 3, 2, 3], () => random));
  });

  it('is not left to chance where one node is the best', () => {
    const never = () => {
      throw new Error('not to be asked');
    };
    expect(selectHost([1, 3, 2], never)).toBe(1);
  });
});
