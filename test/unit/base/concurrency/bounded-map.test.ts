import { describe, expect, it } from 'vitest';
import { BoundedMap } from '../../../../src/base/concurrency/bounded-map.ts';

const valuesOf = (map: BoundedMap<string, number>): (number | undefined)[] => ['a', 'b', 'c', 'd'].map((key) => map.get(key));

describe('a bounded map', () => {
  it('lets the key go that was set longest ago', () => {
    const map = new BoundedMap<string, number>(3);
    for (const [index, key] of ['a', 'b', 'c'].entries()) map.set(key, index);
    expect(valuesOf(map)).toEqual([0, 1, 2, undefined]);
    map.set('a', 10);
    map.set('d', 3);
    expect(valuesOf(map)).toEqual([10, undefined, 2, 3]);
    map.set('c', 12);
    map.set('b', 11);
    expect(valuesOf(map)).toEqual([undefined, 11, 12, 3]);
  });

  it('takes no key away to read it, and has room where one was deleted', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 0);
    map.set('b', 1);
    map.get('a');
    map.set('c', 2);
    expect(valuesOf(map)).toEqual([undefined, 1, 2, undefined]);
    map.delete('c');
    map.delete('never there');
    map.set('d', 3);
    expect(valuesOf(map)).toEqual([undefined, 1, undefined, 3]);
    map.set('a', 4);
    expect(valuesOf(map)).toEqual([4, undefined, undefined, 3]);
  });
});
