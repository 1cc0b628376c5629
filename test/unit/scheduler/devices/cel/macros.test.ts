import { describe, expect, it } from 'vitest';
import { celResult, compileProblem } from '../cel-world.ts';

describe('the macros', () => {
  it.each([
    ['[1, 2].all(x, x > 0)'],
    ['![1, 2].all(x, x > 1)'],
    ['[1, 2].exists(x, x > 1)'],
    ['[1, 2].exists_one(x, x > 1) && ![2, 2].existsOne(i, x, x > 1)'],
    ['[1, 2].map(x, x * 2) == [2, 4] && [1, 2].map(x, x > 1, x * 2) == [4]'],
    ['[1, 2].filter(x, x > 1) == [2]'],
    ['[5, 6].all(i, x, x == i + 5) && {"a": 1}.exists(k, v, k == "a" && v == 1)'],
    ['[5, 6].transformList(i, x, i > 0, x + i) == [7]'],
    ['{"a": 1}.transformMap(k, v, v + 1) == {"a": 2}'],
    ['[5, 6].transformMapEntry(i, x, {x: i}) == {5: 0, 6: 1}'],
    ['cel.bind(x, 2, x * x) == 4'],
    ['optional.of(2).optMap(x, x * 2).value() == 4 && !optional.none().optMap(x, x).hasValue()'],
    ['[[1]].first().optFlatMap(l, l[?0]).value() == 1'],
    ['["bb", "a"].sortBy(x, x.size()) == ["a", "bb"]'],
    ['has({"a": 1}.a) && !has({"a": 1}.b)'],
  ])('stand for loops: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });

  it.each([
    ['has(1)', 'has() takes a field, such as has(a.b)'],
    ['[1].all(1, true)', 'a macro takes a plain name for its variable'],
    ['[1].all(x, x, true)', 'the name x is there twice'],
    ['[1].map(__result__, 1)', '__result__ is no name for a variable'],
    ['"a".sortBy(x, x)', 'sortBy() sorts lists alone'],
    ['celo.bind(x, 1, x)', 'nothing is called x'],
  ])('say which arguments they cannot take: %s', (expression, problem) => {
    expect(compileProblem(expression)).toBe(problem);
  });

  it('are bounded where they copy what they are called on', () => {
    const chain = `optional.of(1)${'.optMap(x, x)'.repeat(40)}.hasValue()`;
    expect(compileProblem(chain)).toBe('it is too large with its macros expanded');
  });
});
