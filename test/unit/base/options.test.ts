import { describe, expect, it } from 'vitest';
import { requireKnownOptions, requireMethods } from '../../../src/base/options.ts';

describe('requireKnownOptions', () => {
  it('accepts an object with known members, and one with none', () => {
    expect(() => requireKnownOptions('options', { qps: 1 }, ['qps', 'burst'])).not.toThrow();
    expect(() => requireKnownOptions('options', {}, ['qps'])).not.toThrow();
  });

  it('names a misspelt member, the known options, and the value', () => {
    expect(() => requireKnownOptions('options', { qsp: 5 }, ['qps', 'burst'])).toThrow(
      'Expected `options.qsp` to be absent: the known options are qps, burst, got 5 (number)',
    );
  });

  it.each([null, undefined, 5, 'text'])('refuses %s', (value) => {
    expect(() => requireKnownOptions('options', value, [])).toThrow('Expected `options` to be an object');
  });
});

describe('requireMethods', () => {
  it('names the missing methods', () => {
    expect(() => requireMethods('clock', { now: () => 0 }, ['now', 'setTimer'])).toThrow(
      'Expected `clock` to be an object with setTimer, got (object)',
    );
  });
});
