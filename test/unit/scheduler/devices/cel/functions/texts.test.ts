import { describe, expect, it } from 'vitest';
import { celResult } from '../../cel-world.ts';

describe('functions of texts', () => {
  it.each([
    ['"aé😀".charAt(2) == "😀" && "a".charAt(1) == ""'],
    ['"hello".indexOf("l") == 2 && "hello".indexOf("l", 3) == 3 && "hello".indexOf("x") == -1 && "a".indexOf("", 7) == 7'],
    [
      '"hello".lastIndexOf("l") == 3 && "hello".lastIndexOf("l", 2) == 2 && "".lastIndexOf("") == 0 && "a".lastIndexOf("bb") == -1',
    ],
    ['"ÄB".lowerAscii() == "Äb" && "äb".upperAscii() == "äB"'],
    ['"aaa".replace("a", "b", 2) == "bba" && "ab".replace("", "-") == "-a-b-" && "ab".replace("", "-", 1) == "-ab"'],
    ['"a,b,c".split(",") == ["a", "b", "c"] && "a,b,c".split(",", 2) == ["a", "b,c"] && "ab".split("") == ["a", "b"]'],
    ['"a".split(",", 0) == [] && "a,b".split(",", -1) == ["a", "b"]'],
    ['"hello".substring(1) == "ello" && "hello".substring(1, 3) == "el"'],
    ['" \\u00a0a\\t".trim() == "a" && "\\ufeff".trim().size() == 1'],
    ['["a", "b"].join() == "ab" && ["a", "b"].join("-") == "a-b" && [].join() == ""'],
    ['strings.quote("a\\n\\"") == "\\"a\\\\n\\\\\\"\\""'],
    ['"ab12".find("[0-9]+") == "12" && "a".find("b") == "" && "a1b2".findAll("[0-9]") == ["1", "2"]'],
    ['"a1b2".findAll("[0-9]", 1) == ["1"] && "ab".findAll("x*") == ["", "", ""] && "a".findAll("a", 0) == []'],
    ['"A100".matches("(?i)^a\\\\d+$") && matches("a", "a|b")'],
  ])('do what they say: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });

  it.each([
    '"a".charAt(2) == ""',
    '"a".substring(2) == ""',
    '"abc".substring(2, 1) == ""',
    '"a".indexOf("a", -1) == 0',
    '[dyn("a"), dyn(1)].join() == ""',
    '"a".matches([dyn("(")][0])',
    'dyn(1).matches("a")',
    'dyn(1).startsWith("a")',
  ])('fail outside of the text: %s', (expression) => {
    expect(celResult(expression)).toMatch(/^failure: /);
  });
});
