// After staging/src/k8s.io/apimachinery/pkg/api/resource/quantity_test.go, v1.36.3: TestQuantityAdd, TestQuantityCmp.
import { describe, expect, it } from 'vitest';
import { compareQuantities, QuantityTotal } from '../../../../src/api/quantity/quantity-arithmetic.ts';

describe('QuantityTotal', () => {
  it.each([
    ['100m', '900m', '1'],
    ['1', '500m', '1500m'],
    ['1.5', '1.5', '3'],
    ['1Gi', '512Mi', '1536Mi'],
    ['512Mi', '512Mi', '1Gi'],
    ['500', '1Ki', '1524'],
    ['1Ki', '500', '1524'],
    ['1Ki', '0.5', '1024500m'],
    ['0', '1Mi', '1Mi'],
    ['0', '1e3', '1e3'],
    ['1e3', '1e3', '2e3'],
    ['1Mi', '0', '1Mi'],
    ['1n', '1n', '2n'],
    ['0.0000000001', '0', '1n'],
    ['3', '-1', '2'],
    ['900Ei', '900Ei', '1800Ei'],
  ])('%s and %s make %s', (first, second, sum) => {
    const total = new QuantityTotal(first);
    total.add(second);
    expect(String(total)).toBe(sum);
  });

  it.each(['much', '', '1e', '1e99999999999999999999'])('refuses %j', (text) => {
    expect(() => new QuantityTotal('1').add(text)).toThrow('Expected `quantity` to be a number with an optional suffix');
  });

  it('writes one quantity as it was given, and a sum in the form of the first', () => {
    const total = new QuantityTotal('1.50');
    expect(String(total)).toBe('1.50');
    total.add('500m');
    const copy = new QuantityTotal(total);
    total.add(copy);
    expect([String(copy), String(total)]).toEqual(['2', '4']);
    expect([copy.compare(total), total.compare(copy), total.compare(new QuantityTotal('4000m'))]).toEqual([-1, 1, 0]);
  });

  it.each(['1e9999', '1e2000000000', '9'.repeat(100_000)])('makes no number that grows with %.12s', (text) => {
    const total = new QuantityTotal('1');
    for (let i = 0; i < 1000; i++) total.add(text);
    expect(String(total).length).toBeLessThan(320);
    expect(total.compare(new QuantityTotal('9223372036854775807'))).toBe(1);
  });

  it('refuses what is no quantity, as soon as it counts', () => {
    expect(() => new QuantityTotal('1').add('much')).toThrow('Expected `quantity` to be a number with an optional suffix');
    expect(() => new QuantityTotal('much').add('1')).toThrow('Expected `quantity` to be a number with an optional suffix');
  });
});

describe('compareQuantities', () => {
  it.each([
    ['1', '1000m', 0],
    ['1Ki', '1024', 0],
    ['1k', '1Ki', -1],
    ['2', '1999m', 1],
    ['-1', '0', -1],
    ['0', '0n', 0],
  ])('%s to %s: %i', (first, second, order) => {
    expect(compareQuantities(first, second)).toBe(order);
  });
});
