import { describe, expect, it } from 'vitest';
import { celResult, compileProblem } from '../cel-world.ts';

describe('the types of an expression', () => {
  it.each([
    ['1 + "a"', 'there is no _+_(int, string)'],
    ['"a".size(1)', 'there is no string.size(int)'],
    ['foo', 'nothing is called foo'],
    ['foo(1)', 'there is no function foo()'],
    ['device.foo', 'a value of type kubernetes.DRADevice has no field foo'],
    ['[1, "a"]', 'expected int, found string'],
    ['{"a": 1, 2: 1}', 'expected string, found int'],
    ['[dyn(1), 1]', 'expected dyn, found int'],
    ['[?1]', 'expected optional_type(int), found int'],
    ['1.all(x, true)', 'a loop goes over lists and maps, not int'],
    ['[1].all(x, 1)', 'expected bool, found int'],
    ['1 && true', 'expected bool, found int'],
    ['device.attributes["a"].b.exists(x, true)', 'a loop goes over lists and maps, not google.protobuf.Any'],
    ['ip("::1")', 'the function ip() is not offered in device selectors here'],
    ['format.named("x")', 'the function format.named() is not offered in device selectors here'],
    ['"%s".format(["a"])', 'the function format() is not offered in device selectors here'],
    ['"a"[0]', 'there is no _[_](string, int)'],
    ['cel.@mapInsert({}, 1, 2)', 'what begins here is no part of the language: "@mapInsert"'],
  ])('have to fit: %s', (expression, problem) => {
    expect(compileProblem(expression)).toBe(problem);
  });

  it.each([
    ['dyn(1) == "a" || true'],
    ['[].size() == 0 && {}.size() == 0'],
    ['[[]].exists(l, l == [1]) || true'],
    ['type(1) == int && type([1]) == list'],
    ['optional.none() == optional.none()'],
    ['(true ? optional.of(1) : optional.none()).hasValue()'],
    ['1 < 2.5 && 1u < 2'],
    ['null == null'],
  ])('are found where they are not written: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });
});
