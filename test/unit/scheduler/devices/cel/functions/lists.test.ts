import { describe, expect, it } from 'vitest';
import { celResult } from '../../cel-world.ts';

describe('functions of lists', () => {
  it.each([
    ['[1, 2].sum() == 3 && [1.5].sum() == 1.5 && [1u, 2u].sum() == 3u && [].sum() == 0'],
    ['[2, 1].min() == 1 && ["b", "a"].max() == "b" && [1, 2].isSorted() && ![2, 1].isSorted()'],
    ['[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2 && [1].indexOf(3) == -1'],
    ['[1, 2, 3].slice(1, 2) == [2] && [1, 2].reverse() == [2, 1] && [dyn(1), dyn(1.0), dyn(2)].distinct().size() == 2'],
    ['[[1], [2]].flatten() == [1, 2] && [[[1]]].flatten(2) == [1] && [[1]].flatten(0) == [[1]]'],
    ['lists.range(3) == [0, 1, 2] && lists.range(-1) == []'],
    ['[3, 1, 2].sort() == [1, 2, 3] && ["b", "a"].sort() == ["a", "b"] && [true, false].sort() == [false, true]'],
    ['sets.contains([1, 2], [2]) && !sets.contains([1], [2]) && sets.equivalent([1, 1], [1]) && sets.intersects([1], [1, 2])'],
  ])('do what they say: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });

  it.each([
    '[1].slice(0, 2) == []',
    '[1].slice(-1, 1) == []',
    '[[1]].flatten(-1) == []',
    '[].min() == 1',
    '[dyn(1), dyn("a")].sort() == []',
    '[dyn(1), dyn("a")].sum() == 1',
    'lists.range(9223372036854775807) == []',
    '[1, 1].transformMapEntry(i, v, {v: i}) == {}',
  ])('fail where there is no answer: %s', (expression) => {
    expect(celResult(expression)).toMatch(/^failure: /);
  });
});
