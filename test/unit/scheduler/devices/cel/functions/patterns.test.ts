import { describe, expect, it } from 'vitest';
import { CelMeter } from '../../../../../../src/scheduler/devices/cel/cel-meter.ts';
import { Patterns } from '../../../../../../src/scheduler/devices/cel/functions/patterns.ts';

describe('regular expressions', () => {
  const patterns = new Patterns();
  const meter = (): CelMeter => new CelMeter(0);

  it('are those of RE2', () => {
    expect(patterns.test('(?i)^a+$', 'AAA', meter())).toBe(true);
    expect(patterns.problem('(?=a)')).toContain('this is no regular expression of RE2');
    expect(patterns.problem('\\1')).toContain('this is no regular expression of RE2');
    expect(patterns.problem('a{2000}')).toContain('this is no regular expression of RE2');
    expect(patterns.findAll('a|b', 'xaxb', -1, meter())).toEqual(['a', 'b']);
  });

  it('that are hostile take no longer than the text is long', () => {
    const text = 'a'.repeat(20_000);
    expect(patterns.test('^(a+)+x$', text, meter())).toBe(false);
    expect(patterns.test('^(a|aa)+x$', text, meter())).toBe(false);
  });

  it('that would make a very large automaton are refused', () => {
    expect(patterns.problem('a{1000}'.repeat(60))).toBe('this regular expression is too large');
    expect(patterns.problem('a{1000}'.repeat(20))).toBeUndefined();
    for (const group of [`(${'ab'.repeat(50)}){1000}`, `((${'ab'.repeat(50)}){25}){40}`])
      expect(patterns.problem(group)).toBe('this regular expression is too large');
    expect(patterns.problem('([0-9a-f]{2}:){5}[0-9a-f]{2}')).toBeUndefined();
  });

  it('are kept as long as they are not too large together', () => {
    const large = (text: string) => `(a${text}){1000}b{9}`;
    const own = new Patterns();
    const workFor = (pattern: string): number => {
      let work = 0;
      const count = (steps: number): void => {
        work += steps;
      };
      const asked = Object.assign(new CelMeter(0), { work: count });
      expect(own.test(pattern, '', asked)).toBe(false);
      return work;
    };
    const first = workFor(large('1'.repeat(20)));
    expect(workFor(large('1'.repeat(20)))).toBeLessThan(first);
    for (const text of ['2', '3', '4', '5']) workFor(large(text.repeat(20)));
    expect(workFor(large('1'.repeat(20)))).toBe(first);
  });

  it('that are made again and again are broken off', () => {
    const one = meter();
    expect(() => {
      for (let i = 0; i < 1000; i++) patterns.test(`a{1000}${i}`, '', one);
    }).toThrow('it takes too long to evaluate');
  });

  it('are broken off where pattern and text are large together', () => {
    expect(() => patterns.test('(a{1000})x', 'a'.repeat(100_000), meter())).toThrow('it takes too long to evaluate');
  });
});
