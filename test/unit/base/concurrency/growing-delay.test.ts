import { describe, expect, it } from 'vitest';
import { type GrowingDelay, nthDelayMs } from '../../../../src/base/concurrency/backoff.ts';

const delays = (delay: GrowingDelay, ...ns: number[]): number[] => ns.map((n) => nthDelayMs(n, delay));

describe('nthDelayMs', () => {
  it('doubles from the first delay up to the longest one', () => {
    expect(delays({ firstMs: 500, longestMs: 3000 }, 1, 2, 3, 4, 5)).toEqual([500, 1000, 2000, 3000, 3000]);
    expect(delays({ firstMs: 500, longestMs: 300 }, 1, 2)).toEqual([300, 300]);
  });

  it('grows by another factor, and without a limit where there is none', () => {
    expect(delays({ firstMs: 1000, factor: 1.5 }, 1, 2, 3, 4)).toEqual([1000, 1500, 2250, 3375]);
    expect(nthDelayMs(50, { firstMs: 1 })).toBe(562_949_953_421_312);
  });

  it('is a number however often it has grown', () => {
    expect(delays({ firstMs: 500, longestMs: 30_000 }, 1000, 100_000, Number.MAX_SAFE_INTEGER)).toEqual([30_000, 30_000, 30_000]);
    expect(delays({ firstMs: 0, longestMs: 30_000 }, 1, 1000, 100_000)).toEqual([0, 0, 0]);
  });
});
