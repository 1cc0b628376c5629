import { describe, expect, it } from 'vitest';
import { celResult } from '../../cel-world.ts';

describe('fields and indexes', () => {
  it.each([
    ['{"a": {"b": 1}}.a.b == 1 && {"a": 1}["a"] == 1'],
    ['{"a": 1}.?b.orValue(2) == 2 && {"a": {}}.?a.b.orValue(2) == 2'],
    ['[1][?1].orValue(2) == 2 && [1][?0].value() == 1 && dyn([1])[0u] == 1 && dyn([1])[0.0] == 1'],
    ['has({"a": {"b": 1}}.?a.b)'],
    ['(true ? {"a": 1} : {"a": 2}).a == 1'],
    ['{1: 2}[1] == 2 && {true: 2}[true] == 2 && {1u: 2}[1u] == 2'],
    ['["a", "b"][[0, 1][1]] == "b" && {"a": 1}["b" == "b" ? "a" : "c"] == 1'],
    ['optional.of({"a": 1}).a.value() == 1'],
    ['cel.bind(o, optional.of(int), dyn(o.value()) == "int")'],
  ])('lead to values: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });

  it('lose what upstream loses of an optional value that goes through a name', () => {
    expect(celResult('cel.bind(o, optional.of(quantity("1")), o.hasValue())')).toBe(true);
    expect(celResult('cel.bind(o, optional.of(quantity("1")), o.value().isInteger())')).toMatch(
      /^failure: an optional kubernetes.Quantity/,
    );
  });

  it('fail where there is no such part', () => {
    expect(celResult('dyn(1).a == 1')).toBe('failure: a value of type int has no "a"');
    expect(celResult('dyn({})[[1].map(x, x)] == 1')).toMatch(/^failure: a value of type list is no key/);
  });
});
