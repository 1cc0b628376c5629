import { describe, expect, it } from 'vitest';
import { compareQuantities, quantityInNano, roundedUpToMilli } from '../../../../src/api/quantity/quantity-arithmetic.ts';

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
    '1e30000000',
    '1e2000000000',
    '-1e2000000000',
    `${'9'.repeat(1_000_000)}`,
    `${'9'.repeat(100_000)}e999`,
    `${'9'.repeat(1000)}Ki`,
  ])('hold no more than 300 digits of %.12s', (text) => {
    const nano = quantityInNano(text);
    expect(nano < 0n).toBe(text.startsWith('-'));
    expect(String(nano).replace('-', '')).toBe(`1${'0'.repeat(299)}`);
    expect(Number.isFinite(Number(nano))).toBe(true);
  });

  it.each([
    ['0e2000000000', 0n],
    ['1e-2000000000', 1n],
    [`0.${'0'.repeat(100_000)}1e100001`, 1_000_000_000n],
    [`1${'0'.repeat(289)}`, 10n ** 298n],
  ])('%.12s is exact, or rounded up, where it is smaller', (text, nano) => {
    expect(quantityInNano(text)).toBe(nano);
  });
});
