import { describe, expect, it } from 'vitest';
import { LateMap, LateSet } from '../../../../src/base/concurrency/late-collections.ts';

describe('LateMap', () => {
  it('does what a Map does, before its first key and after it', () => {
    const [late, map] = [new LateMap<string, number>(), new Map<string, number>()];
    const look = (of: LateMap<string, number> | Map<string, number>) => [
      ...[of.size, of.has('a'), of.get('a')],
      ...[[...of], [...of.keys()], [...of.values()], [...of.entries()]],
    ];
    expect([look(late), late.delete('a')]).toEqual([look(map), map.delete('a')]);
    for (const each of [late, map]) each.set('a', 1).set('b', 2).set('a', 3);
    expect(look(late)).toEqual(look(map));
    expect([late.delete('a'), late.delete('a'), look(late)]).toEqual([map.delete('a'), map.delete('a'), look(map)]);
    for (const each of [late, map]) each.clear();
    expect(look(late)).toEqual(look(map));
  });

  it('is cleared for who is going through it, too', () => {
    const late = new LateMap<number, number>().set(1, 1).set(2, 2);
    const seen: number[] = [];
    for (const [key] of late) {
      seen.push(key);
      late.clear();
    }
    expect(seen).toEqual([1]);
  });
});

describe('LateSet', () => {
  it('does what a Set does, before its first value and after it', () => {
    const [late, set] = [new LateSet<string>(), new Set<string>()];
    const look = (of: LateSet<string> | Set<string>) => [of.size, of.has('a'), [...of], [...of.values()]];
    expect([look(late), late.delete('a')]).toEqual([look(set), set.delete('a')]);
    for (const each of [late, set]) each.add('a').add('b').add('a');
    expect(look(late)).toEqual(look(set));
    const seen: string[] = [];
    for (const value of late) {
      seen.push(value);
      late.clear();
    }
    expect([seen, look(late), late.delete('b')]).toEqual([['a'], look(new Set()), false]);
  });
});
