import { describe, expect, it } from 'vitest';
import { celTokens } from '../../../../../src/scheduler/devices/cel/lexer.ts';

function kinds(source: string): string[] {
  return celTokens(source).map(({ kind, text }) => `${kind} ${text}`);
}

describe('the pieces of an expression', () => {
  it('are words, signs and values, each with its place', () => {
    expect(kinds('a.b_1 <= 0x1F // c')).toEqual(['word a', 'symbol .', 'word b_1', 'symbol <=', 'value 0x1F', 'end ']);
    expect(celTokens('a == 1').map(({ at }) => at)).toEqual([0, 2, 5, 6]);
  });

  it.each([
    ['1.5', 1.5],
    ['.5e1', 5],
    ['1e3', 1000],
    ['0x1F', 31n],
    ['true', true],
    ['null', null],
    ['r"\\n"', '\\n'],
    ["'''a\n'b'''", "a\n'b"],
    ['"\\u00e9\\n"', 'é\n'],
  ])('hold values: %s', (source, value) => {
    expect(celTokens(source)[0]).toMatchObject({ kind: 'value', value });
  });

  it.each(['"a', '#', '"\\q"', '"a\nb"', '1e400', '18446744073709551616u'])('are refused where they are none: %s', (source) => {
    expect(() => celTokens(source)).toThrow();
  });
});
