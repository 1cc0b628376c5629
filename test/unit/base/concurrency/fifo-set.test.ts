import { describe, expect, it } from 'vitest';
import { FifoSet } from '../../../../src/base/concurrency/fifo-set.ts';
import { heldBytes } from '../../../support/held-bytes.ts';

function taken<T>(set: FifoSet<T>): T[] {
  const keys: T[] = [];
  for (let key = set.take(); key !== undefined; key = set.take()) keys.push(key);
  return keys;
}

describe('FifoSet', () => {
  it('returns its members in order of arrival, each once', () => {
    const set = new FifoSet<number>();
    for (const key of [3, 1, 2, 1, 3]) set.add(key);
    expect([set.size, set.has(1), set.has(9)]).toEqual([3, true, false]);
    expect(taken(set)).toEqual([3, 1, 2]);
    expect([set.size, set.has(1)]).toEqual([0, false]);
  });

  it('returns members that were added after it was empty', () => {
    const set = new FifoSet<number>();
    for (let round = 0; round < 3; round += 1) {
      set.add(1);
      expect(set.take()).toBe(1);
      expect(set.take()).toBeUndefined();
    }
  });

  it('puts a member that is added again at the end', () => {
    const set = new FifoSet<string>();
    for (const key of ['a', 'b']) set.add(key);
    set.take();
    set.add('a');
    expect(taken(set)).toEqual(['b', 'a']);
  });

  it('passes over deleted members', () => {
    const set = new FifoSet<string>();
    for (const key of ['a', 'b', 'c', 'd']) set.add(key);
    set.take();
    expect([set.delete('b'), set.delete('b')]).toEqual([true, false]);
    set.delete('d');
    expect(taken(set)).toEqual(['c']);
  });

  it('works again after it was cleared', () => {
    const set = new FifoSet<string>();
    for (const key of ['a', 'b']) set.add(key);
    set.take();
    set.clear();
    expect([set.size, set.take()]).toEqual([0, undefined]);
    set.add('c');
    expect(taken(set)).toEqual(['c']);
  });

  it('holds nothing for keys that were deleted, though none was taken', () => {
    const set = new FifoSet<number>();
    for (let key = 0; key < 100; key += 1) set.add(key);
    let next = 100;
    const churn = (): void => {
      for (const last = next + 300_000; next < last; next += 1) {
        set.add(next);
        set.delete(next - 100);
      }
    };
    expect(heldBytes(churn)).toBeLessThan(1_000_000);
    expect(taken(set)).toEqual(Array.from({ length: 100 }, (_, n) => next - 100 + n));
  });

  it('behaves like a list, for any operations in any order', () => {
    let seed = 7;
    const next = (limit: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % limit;
    };
    const set = new FifoSet<number>();
    const model: number[] = [];
    for (let step = 0; step < 5_000; step += 1) {
      const key = next(20);
      switch (next(4)) {
        case 0:
          expect(set.take()).toBe(model.shift());
          break;
        case 1:
          expect(set.delete(key)).toBe(model.includes(key));
          if (model.includes(key)) model.splice(model.indexOf(key), 1);
          break;
        default:
          set.add(key);
          if (!model.includes(key)) model.push(key);
      }
      expect(set.size).toBe(model.length);
    }
    expect(taken(set)).toEqual(model);
  });
});
