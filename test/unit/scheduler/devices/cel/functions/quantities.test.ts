import { describe, expect, it } from 'vitest';
import { celResult } from '../../cel-world.ts';

describe('quantities', () => {
  it.each([
    ['quantity("1k") == quantity("1000") && quantity("1Ki").compareTo(quantity("1024")) == 0'],
    ['quantity("10Gi").isGreaterThan(quantity("1Gi")) && quantity("1m").isLessThan(quantity("1"))'],
    ['quantity("40Gi").asInteger() == 42949672960 && quantity("1.5k").asInteger() == 1500 && quantity("0").asInteger() == 0'],
    ['!quantity("1500m").isInteger() && !quantity("2000m").isInteger() && !quantity("1.5Gi").isInteger()'],
    ['!quantity("9223372036854775807").isInteger() && !quantity("1Ei").isInteger() && quantity("1E").isInteger()'],
    ['quantity("16Ei") == quantity("9223372036854775807") && quantity("-16Ei") == quantity("-8Ei")'],
    ['quantity("8Ei").isLessThan(quantity("9223372036854775808")) && quantity("16E").isGreaterThan(quantity("16Ei"))'],
    ['sign(quantity("-1")) == -1 && sign(quantity("0")) == 0'],
    ['quantity("1").add(quantity("500m")) == quantity("1500m") && quantity("1").sub(2).asInteger() == -1'],
    ['quantity("1500m").asApproximateFloat() == 1.5'],
    ['quantity("7E").add(quantity("1500m")).asApproximateFloat() == 7000000000000000000.0'],
    ['quantity("16Ei").compareTo(quantity("9223372036854775807")) == 0 && quantity("-16Ei") == quantity("-9223372036854775807")'],
    ['quantity("10Gi").sub(-9223372036854775808).isLessThan(quantity("0"))'],
    [
      'quantity("1e999999999").sub(0).isGreaterThan(quantity("1E")) && quantity("0").add(quantity("1e999999999")).isInteger() == false',
    ],
    ['isQuantity("1Gi") && !isQuantity("1gi") && !isQuantity("") && !isQuantity(" 1")'],
  ])('are exact: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });

  it.each([
    'quantity([dyn("x")][0]).isInteger()',
    'quantity("1500m").asInteger() == 1',
    'quantity("1") == quantity("1").add(0)',
    'dyn(quantity("1")).isGreaterThan(dyn(1))',
  ])('fail where upstream fails: %s', (expression) => {
    expect(celResult(expression)).toMatch(/^failure: /);
  });
});
