import { describe, expect, it } from 'vitest';
import { compareQuantities, quantityInNano, roundedUpToMilli, sumOfQuantities } from '../../../src/wire/quantity-value.ts';

describe('quantities as numbers', () => {
  it.each([
    ['0', 0n],
    ['1n', 1n],
    ['-1500m', -1_500_000_000n],
    ['1Ki', 1_024_000_000_000n],
    ['1.5', 1_500_000_000n],
    ['2e3', 2_000_000_000_000n],
  ])('%s is %s billionths', (text, nano) => {
    expect(quantityInNano(text)).toBe(nano);
  });

  it('are compared across their suffixes', () => {
    expect([compareQuantities('1', '1000m'), compareQuantities('1Ki', '1k'), compareQuantities('1', '2')]).toEqual([0, 1, -1]);
  });

  it.each([
    ['100n', '1m'],
    ['-100n', '-1m'],
    ['1500u', '2m'],
    ['1Gi', '1Gi'],
    ['1e-6', '1e-3'],
  ])('%s is rounded to %s', (text, rounded) => {
    expect(roundedUpToMilli(text)).toBe(rounded);
  });

  it.each([
    ['1', '500m', '1500m'],
    ['1Ki', '1Mi', '1025Ki'],
    ['0', '2Ki', '2Ki'],
    ['1e3', '1', '1001e0'],
  ])('%s and %s are %s', (a, b, sum) => {
    expect(quantityInNano(sumOfQuantities(a, b))).toBe(quantityInNano(sum));
  });
});
