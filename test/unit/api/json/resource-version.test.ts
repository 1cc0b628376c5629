import { describe, expect, it } from 'vitest';
import { compareResourceVersions, isOlderThan } from '../../../../src/api/json/resource-version.ts';

const sign = (order: number | undefined): number | undefined => order && Math.sign(order);

describe('compareResourceVersions', () => {
  it.each([
    ['9', '10', -1],
    ['10', '9', 1],
    ['7', '7', 0],
    ['007', '7', 0],
    ['18446744073709551614', '18446744073709551615', -1],
    ['8', '0000000000000000000000010', -1],
    ['9'.repeat(1_000_000), '9'.repeat(1_000_001), -1],
  ])('orders %.30s and %.30s', (a, b, order) => {
    expect(sign(compareResourceVersions(a, b))).toBe(order);
    expect(sign(compareResourceVersions(b, a))).toBe(-order || 0);
  });

  it.each([
    ['', '1'],
    ['1', 'x'],
    ['-1', '1'],
    ['1.5', '1'],
  ])('cannot order %j and %j', (a, b) => {
    expect(compareResourceVersions(a, b)).toBeUndefined();
  });
});

describe('isOlderThan', () => {
  const pod = (resourceVersion?: string) => ({ metadata: { ...(resourceVersion && { resourceVersion }) } });

  it('needs two numbers to call a copy older', () => {
    expect(isOlderThan(pod('9'), pod('10'))).toBe(true);
    expect(isOlderThan(pod('10'), pod('9'))).toBe(false);
    expect(isOlderThan(pod(), pod('9'))).toBe(false);
    expect(isOlderThan(pod('9'), pod())).toBe(false);
  });
});
