import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyedHeap } from '../../../../src/base/concurrency/keyed-heap.ts';

interface Item {
  rank: number;
}

const byRank = (first: Item, second: Item): boolean => first.rank < second.rank;

function taken<T>(heap: KeyedHeap<T>): T[] {
  const items: T[] = [];
  for (let item = heap.take(); item !== undefined; item = heap.take()) items.push(item);
  return items;
}

describe('a heap of keyed items', () => {
  it('gives them in their order, and of equal items the one added first', () => {
    const heap = new KeyedHeap<{ rank: number; name: string }>(byRank);
    for (const [name, rank] of Object.entries({ a: 2, b: 1, c: 2, d: 1, e: 0 })) heap.set(name, { rank, name });
    expect(heap.first).toMatchObject({ name: 'e' });
    expect(taken(heap).map(({ name }) => name)).toEqual(['e', 'b', 'd', 'a', 'c']);
  });

  it('does what a sorted map does, whatever is added, changed and removed', () => {
    const key = fc.constantFrom(...'abcdefgh');
    const step = fc.oneof(
      fc.record({ op: fc.constant('set' as const), key, rank: fc.nat(5) }),
      fc.record({ op: fc.constant('delete' as const), key }),
      fc.record({ op: fc.constant('take' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const heap = new KeyedHeap<Item & { key: string }>(byRank);
        const model = new Map<string, number>();
        for (const one of steps) {
          if (one.op === 'set') {
            heap.set(one.key, { key: one.key, rank: one.rank });
            model.set(one.key, one.rank);
          } else if (one.op === 'delete') {
            expect(heap.delete(one.key)?.rank).toBe(model.get(one.key));
            model.delete(one.key);
          } else {
            const [least] = [...model].sort(([, first], [, second]) => first - second);
            const item = heap.take();
            expect(item?.rank).toBe(least?.[1]);
            // of those that are equal the map puts the oldest first, too
            expect(item?.key).toBe(least?.[0]);
            model.delete(item?.key ?? '');
          }
          expect(new Map([...heap.values()].map(({ key: name, rank }) => [name, rank]))).toEqual(model);
          expect(heap.size).toBe(model.size);
        }
      }),
    );
  });

  it('is empty once it is cleared, and takes the same keys again', () => {
    const heap = new KeyedHeap<Item>(byRank);
    for (let rank = 0; rank < 5; rank += 1) heap.set(`${rank}`, { rank });
    heap.clear();
    expect([heap.size, heap.first, heap.has('1'), heap.take()]).toEqual([0, undefined, false, undefined]);
    heap.set('1', { rank: 7 });
    expect(taken(heap)).toEqual([{ rank: 7 }]);
  });

  it('loses nothing where the order contradicts itself', () => {
    const heap = new KeyedHeap<number>(() => true);
    for (let i = 0; i < 50; i += 1) heap.set(`${i}`, i);
    for (let i = 0; i < 50; i += 5) heap.set(`${i}`, i);
    expect(taken(heap).sort((first, second) => first - second)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });
});
