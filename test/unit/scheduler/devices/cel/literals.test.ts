import { describe, expect, it } from 'vitest';
import { unescapedBytes, unescapedText } from '../../../../../src/scheduler/devices/cel/literals.ts';

describe('what is between quotes', () => {
  it.each([
    ['"a\\tb"', 'a\tb'],
    ['"\\x41\\101\\U0001F600"', 'AA😀'],
    ['"\\`\\?\\\'"', "`?'"],
    ['r"\\t"', '\\t'],
    ['"""a"b\r\nc"""', 'a"b\nc'],
    ['""', ''],
  ])('becomes a text: %s', (literal, text) => {
    expect(unescapedText(literal, 0)).toBe(text);
  });

  it('becomes bytes, one for each short escape', () => {
    expect([...unescapedBytes('"\\xff\\000é"', 0)]).toEqual([255, 0, 0xc3, 0xa9]);
  });

  it('is refused where it stands for no character', () => {
    expect(() => unescapedText('"\\ud800"', 3)).toThrow('an escape stands for no character of Unicode');
    expect(() => unescapedBytes('"\\u0041"', 3)).toThrow('bytes have no escapes');
  });
});
