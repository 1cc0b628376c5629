import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../../../src/base/concurrency/backoff.ts';

const ceiling = (attempt: number): number => backoffMs(attempt, { baseMs: 1_000, capMs: 60_000, random: () => 1 });

describe('backoffMs', () => {
  it('doubles its ceiling with each attempt up to the cap, however many attempts there are', () => {
    expect([1, 2, 3, 6, 7, 8, 100, 100_000].map(ceiling)).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000, 60_000]);
  });

  it('spreads over the range from 100 ms to the ceiling, in whole milliseconds', () => {
    const at = (random: number): number => backoffMs(3, { baseMs: 1_000, capMs: 60_000, random: () => random });
    expect([0, 0.25, 0.5, 0.99999].map(at)).toEqual([100, 1_000, 2_000, 4_000]);
    expect(Number.isInteger(at(0.123_456_789))).toBe(true);
  });

  it('is never 0, and where its ceiling is less than 100 ms it is the ceiling', () => {
    const at = (attempt: number, capMs: number): number => backoffMs(attempt, { baseMs: 10, capMs, random: () => 0 });
    expect([at(1, 1_000), at(2, 1_000), at(8, 1_000), at(1000, 1_000), at(8, 0.2)]).toEqual([10, 20, 100, 100, 1]);
  });
});
