import { describe, expect, it } from 'vitest';
import { celOutcome, celResult } from '../../cel-world.ts';

describe('loops', () => {
  it.each([
    ['[1, 2].map(x, [3].map(x, x)[0] + x) == [4, 5]'],
    ['{"a": 1, "b": 2}.map(k, k).size() == 2'],
    ['cel.bind(x, 1 / 0, true)'],
    ['cel.bind(x, [], (x + [1]).size() + (x + [2]).size()) == 3'],
    ['[[1, 2], [3]].map(l, l.map(x, x + 1)) == [[2, 3], [4]]'],
  ])('have variables of their own: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });

  it.each([
    ['[null, null].map(x, x) == [null, null]'],
    ['[null].all(x, x == null) && {"a": null}.all(k, v, k == "a" && v == null)'],
    ['cel.bind(x, null, x == null)'],
  ])('have null for a value like any other: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });

  it('do not go over what they add themselves', () => {
    expect(celResult('cel.bind(x, [], (x + [1]).map(i, (x + [i]).size())) == [2]')).toBe(true);
  });

  it('fail over what is neither list nor map', () => {
    expect(celResult('dyn(1).exists(x, true)')).toBe('failure: a loop goes over lists and maps, not int');
  });

  it('end when they cost too much', () => {
    expect(() => celOutcome('lists.range(1000).all(x, lists.range(1000).all(y, true))')).toThrow(
      'it costs more than 1000000 steps',
    );
  });
});
