import { describe, expect, it } from 'vitest';
import { DomainCounts } from '../../../../src/scheduler/plugins/common.ts';

function countsOf(domains: Record<string, number>): DomainCounts {
  const counts = new DomainCounts();
  for (const [domain, pods] of Object.entries(domains)) counts.add(domain, pods);
  return counts;
}

describe('DomainCounts', () => {
  it('knows every domain that was counted, those without pods among them', () => {
    const counts = countsOf({ a: 2, b: 0 });
    counts.add('a', 1);
    expect([counts.get('a'), counts.get('b'), counts.get('c'), counts.size, counts.minimum()]).toEqual([3, 0, 0, 2, 0]);
  });

  it('has a minimum of 0 where there is no domain', () => {
    expect(new DomainCounts().minimum()).toBe(0);
  });

  it('is empty while no domain has a pod', () => {
    const counts = countsOf({ a: 0, b: 1 });
    expect(counts.isEmpty).toBe(false);
    counts.add('b', -1);
    expect(counts.isEmpty).toBe(true);
  });

  it('keeps the changes of a clone from the original, and those of the original from the clone', () => {
    const counts = countsOf({ a: 1, b: 2 });
    const clone = counts.clone();
    clone.add('a', 5);
    clone.add('c', 1);
    counts.add('b', 7);
    expect([counts.get('a'), counts.get('b'), counts.get('c'), counts.size]).toEqual([1, 9, 0, 2]);
    expect([clone.get('a'), clone.get('b'), clone.get('c'), clone.size]).toEqual([6, 2, 1, 3]);
  });

  it('finds the minimum after any changes, in clones of clones, too', () => {
    const counts = countsOf({ a: 1, b: 2, c: 3 });
    const clone = counts.clone();
    clone.add('a', 9);
    const second = clone.clone();
    second.add('b', 9);
    second.add('a', -10);
    expect([counts.minimum(), clone.minimum(), second.minimum()]).toEqual([1, 2, 0]);
    second.add('a', 5);
    expect(second.minimum()).toBe(3);
    counts.add('a', 4);
    expect(counts.minimum()).toBe(2);
  });
});
