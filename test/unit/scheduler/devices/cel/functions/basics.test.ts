import { describe, expect, it } from 'vitest';
import { celResult } from '../../cel-world.ts';

describe('operators', () => {
  it.each([
    ['7 / 2 == 3 && -7 / 2 == -3 && -7 % 2 == -1 && 7.0 / 2.0 == 3.5'],
    ['1u + 2u == 3u && 3u - 1u == 2u && 5u % 3u == 2u'],
    ['"a" + "b" == "ab" && b"a" + b"b" == b"ab" && [1] + [2] == [1, 2]'],
    ['-(-1) == 1 && -(1.5) == -1.5'],
    ['size("é") == 1 && size(b"é") == 2 && {"a": 1}.size() == 1'],
    ['"abc".contains("b") && "abc".startsWith("ab") && "abc".endsWith("bc")'],
    ['optional.ofNonZeroValue(0).hasValue() == false && optional.ofNonZeroValue("a").hasValue()'],
    ['[1, 2].first().value() == 1 && [1, 2].last().value() == 2 && ![].first().hasValue()'],
    ['[optional.of(1), optional.none()].unwrapOpt() == [1] && optional.unwrap([optional.of(1)]) == [1]'],
    ['1.0 / 0.0 > 1.0'],
    ['optional.of(null).value() == null && optional.of(null).hasValue() && {"a": null}["a"] == null'],
  ])('do what they say: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });

  it.each([
    '9223372036854775807 + 1 == 0',
    '-9223372036854775808 / -1 == 0',
    '-9223372036854775808 % -1 == 0',
    '-(-9223372036854775808) == 0',
    '1u - 2u == 0u',
    '1 % 0 == 0',
    'dyn(1) + dyn("a") == 0',
    'dyn(1) + dyn(1.0) == 0',
    'null < null',
    '[null].min() == 1 || [null].sort() == []',
    'dyn(null) - null == 1',
  ])('fail where a number does not fit, or types do not: %s', (expression) => {
    expect(celResult(expression)).toMatch(/^failure: /);
  });

  it('make no list of more than a million elements', () => {
    expect(celResult('(cel.bind(a, lists.range(99000), cel.bind(b, a + a + a + a, b + b + b))).size() > 0')).toMatch(
      /^failure: a list may have at most/,
    );
  });
});
