import { describe, expect, it } from 'vitest';
import { celOutcome, celResult, compileProblem } from '../../cel-world.ts';

describe('evaluation', () => {
  it.each([
    ['true || 1 / 0 == 1'],
    ['1 / 0 == 1 || true'],
    ['!(1 / 0 == 1 && false)'],
    ['[0, 1].exists(x, 1 / x == 1)'],
    ['![1, 0, 2].all(x, 2 / x == 2)'],
    ['(false ? 1 / 0 : 1) == 1'],
    ['"a" in ["a", "b"] && !("c" in ["a"]) && dyn(1.0) in [1]'],
    ['"a" in {"a": 1}'],
    ['dyn(1).orValue(2) == 1 || true'],
    ['optional.none().or(optional.of(1)).orValue(2) == 1'],
    ['[?optional.none(), 1].size() == 1 && {?"a": optional.none()}.size() == 0'],
  ])('goes past what does not decide: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });

  it.each([
    ['1 / 0 == 1 && true', 'a number was divided by zero'],
    ['[1][1] == 1', 'a list of 1 has no element 1'],
    ['{"a": 1}.b == 1', 'there is no "b"'],
    ['dyn("a") && true', 'both sides of && and || have to be true or false'],
    ['dyn(1) ? true : false', 'a condition has to be true or false'],
    ['dyn([1])["a"] == 1', 'a list has no element "a"'],
    ['optional.none().value() == 1', 'the optional value is missing'],
    ['optional.of(quantity("1")).or(optional.of(quantity("1"))).value() == dyn(1)', '== takes no arguments of the types'],
  ])('fails where nothing can be said: %s', (expression, problem) => {
    expect(celResult(expression)).toContain(`failure: ${problem}`);
  });

  it.each([
    ['int("x") == 1', 'no int can be made of this string'],
    ['"a".matches("(")', 'this is no regular expression of RE2'],
    ['"a".find("(") == ""', 'this is no regular expression of RE2'],
    ['matches("(", "a")', 'this is no regular expression of RE2'],
    ['dyn({})[null] == 1', 'this is no key'],
    ['int in [].map(v, v)', 'the value of v would be a type'],
  ])('refuses constants that make no sense before there is a device: %s', (expression, problem) => {
    expect(compileProblem(expression)).toContain(problem);
  });

  it('breaks off where bytes or a version are looked up in a map that has something, as upstream does', () => {
    expect(celResult('!(dyn(b"a") in {}) && !(dyn(semver("1.0.0")) in {})')).toBe(true);
    expect(() => celOutcome('dyn(b"a") in {"a": 1} || true')).toThrow('cannot be looked up in a map');
    expect(() => celOutcome('dyn(semver("1.0.0")) in {"a": 1} || true')).toThrow('cannot be looked up in a map');
  });

  it('refuses patterns that would make large automatons together', () => {
    const all = (count: number) =>
      Array.from({ length: count }, (_, i) => `"".matches("a{1000}${'b{999}'.repeat(9)}${i}")`).join(' || ');
    expect(celResult(all(9))).toBe(false);
    expect(compileProblem(all(10))).toBe('its regular expressions are too large together');
  });

  it('breaks off where a version is looked up among constants, as upstream does', () => {
    expect(() => celOutcome('true || dyn(semver("1.0.0")) in ["a"]')).not.toThrow();
    expect(() => celOutcome('dyn(semver("1.0.0")) in ["a"] || true')).toThrow('cannot be looked up in a list of constants');
  });
});
