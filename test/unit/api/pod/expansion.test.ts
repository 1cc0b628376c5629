import { describe, expect, it, vi } from 'vitest';
import { expanded } from '../../../../src/api/pod/expansion.ts';

describe('expanded', () => {
  const limit = { mostBytes: 1000, tooLong: () => new Error('too long') };
  it.each([
    ['$(A)', 'a'],
    ['$(A)$(A)', 'aa'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$a'],
    ['$(NONE)', '$(NONE)'],
    ['$(A', '$(A'],
    ['$A', '$A'],
    ['$', '$'],
    ['$()', '$()'],
    ['x$', 'x$'],
    ['$(A))', 'a)'],
    ['$(A$(A))', '$(A$(A))'],
  ])('%s is %s', (text, expected) => {
    expect(expanded(text, (name) => (name === 'A' ? 'a' : undefined), limit)).toBe(expected);
  });

  it.each([
    ['references that nothing closes', '$('.repeat(200_000)],
    ['dollar signs', '$a'.repeat(200_000)],
    ['references to nothing', '$(B)'.repeat(100_000)],
  ])('looks at each character a fixed number of times: %s', (_, text) => {
    let looked = 0;
    const { indexOf } = String.prototype;
    const spy = vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (this: string, part: string, from = 0) {
      const found = indexOf.call(this, part, from);
      looked += (found < 0 ? this.length : found + 1) - from;
      return found;
    });
    const wide = { ...limit, mostBytes: text.length };
    const result = expanded(text, () => undefined, wide);
    spy.mockRestore();
    expect(result === text).toBe(true);
    expect(looked).toBeGreaterThan(0);
    expect(looked).toBeLessThanOrEqual(4 * text.length);
  });

  it('asks for no value once the result is too long', () => {
    let asked = 0;
    const lookUp = (): string => {
      asked += 1;
      return 'x'.repeat(400);
    };
    expect(() => expanded('$(A)'.repeat(1000), lookUp, limit)).toThrow('too long');
    expect(asked).toBe(3);
  });
});
