import { describe, expect, it } from 'vitest';
import { celOutcome, celResult } from '../cel-world.ts';

const letters = 'a'.repeat(900);

/** An expression in which `t` is a text of some 800,000 letters. */
const withText = (expression: string): string => `cel.bind(s, "${letters}", cel.bind(t, s.replace("", s), ${expression}))`;

/** The same list, put into a list twice, as often as asked. */
function doubled(times: number, expression: string): string {
  let whole = expression;
  for (let i = times; i > 0; i--) whole = `cel.bind(l${i}, dyn([l${i - 1}, l${i - 1}]), ${whole})`;
  return `cel.bind(l0, dyn([1]), ${whole})`;
}

describe('a hostile expression', () => {
  it.each([
    'lists.range(200).all(i, t.size() > 0)',
    'lists.range(60).all(i, t.charAt(i) == "a")',
    'lists.range(200).all(i, {t: 1}.size() == 1)',
    'lists.range(200).all(i, !{"a": 1}[?t].hasValue())',
    'cel.bind(l, [t + "a"], cel.bind(m, [t + "b"], lists.range(200).all(i, l != m)))',
    'lists.range(150).map(x, t).sort().size() > 0',
  ])('cannot go through a long text again and again: %s', (expression) => {
    expect(() => celOutcome(withText(expression))).toThrow('it takes too long to evaluate');
  });

  it('cannot have a list gone through that has one list again and again', () => {
    expect(() => celOutcome(doubled(24, 'l24.indexOf(1) == 1'))).toThrow('it takes too long to evaluate');
  });

  it('cannot search a long text for a long one', () => {
    expect(() =>
      celOutcome(withText('t.contains("b" + s + s + s + s + s + s + s + s + s + s + s + s + s + s))'.slice(0, -1))),
    ).toThrow('it takes too long to evaluate');
  });

  it.each([
    't + t + t == ""',
    't.replace("a", "aa") == ""',
    '[t, t, t].join() == ""',
    '[t, "", ""].join(t) == ""',
    'bytes(t) + bytes(t) == b""',
  ])('cannot make a text of more than a million letters: %s', (expression) => {
    expect(celResult(withText(expression))).toBe('failure: a text may have at most 1000000 letters');
  });

  it.each([
    [`int("${'0'.repeat(5000)}7") == 7 && uint("${'0'.repeat(5000)}7") == 7u && int("-${'0'.repeat(50)}7") == -7`],
    [`!isSemver("1.1.${'9'.repeat(5000)}") && isSemver("1.1.18446744073709551615")`],
  ])('has its numbers read as others: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });

  it('has no number of many digits made', () => {
    expect(celResult(`int(["${'9'.repeat(5000)}"][0]) == 0`)).toBe('failure: the number does not fit into 64 bits');
  });
});
