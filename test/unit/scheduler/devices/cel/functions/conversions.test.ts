import { describe, expect, it } from 'vitest';
import { celResult } from '../../cel-world.ts';

describe('conversions', () => {
  it.each([
    ['int("42") == 42 && int("+1") == 1 && int(2.9) == 2 && int(-2.9) == -2 && int(3u) == 3'],
    ['uint("42") == 42u && uint(2.9) == 2u && uint(1) == 1u'],
    ['double("1e3") == 1000.0 && double("-Inf") < 0.0 && double("0x1p4") == 16.0 && double(1) == 1.0'],
    ['string(1.5) == "1.5" && string(1e21) == "1e+21" && string(1000000.0) == "1e+06" && string(0.00001) == "1e-05"'],
    ['string(true) == "true" && string(b"a") == "a" && string(1u) == "1" && string(123456.0) == "123456"'],
    ['bytes("é") == b"é" && bool("T") && !bool("false")'],
    ['type(dyn(1)) == int'],
  ])('make values of other types: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });

  it.each([
    'int([dyn("1.5")][0]) == 1',
    'int([dyn("9223372036854775808")][0]) == 1',
    'int([dyn(9223372036854775808.0)][0]) == 1',
    'uint([dyn("-1")][0]) == 1u',
    'uint([dyn(-1)][0]) == 1u',
    'double([dyn("1_0")][0]) == 1.0',
    'double([dyn("1e400")][0]) == 1.0',
    'bool([dyn("yes")][0])',
    'string([dyn(b"\\xff")][0]) == ""',
    'string([dyn(quantity("1"))][0]) == "1"',
  ])('fail where there is no such value: %s', (expression) => {
    expect(celResult(expression)).toMatch(/^failure: /);
  });
});
