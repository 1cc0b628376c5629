import { describe, expect, it } from 'vitest';
import { Backoff } from '../../../../src/base/concurrency/backoff.ts';

const limits = { baseMs: 500, capMs: 30_000 };

describe('Backoff', () => {
  it('doubles its ceiling up to the limit, and starts again after a reset', () => {
    const backoff = new Backoff({ ...limits, random: () => 1 });
    expect(Array.from({ length: 8 }, () => backoff.next())).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    backoff.reset();
    expect(backoff.next()).toBe(500);
  });

  it('stays at the limit however often it fails', () => {
    const backoff = new Backoff({ ...limits, random: () => 1 });
    for (let i = 0; i < 5000; i += 1) backoff.next();
    expect(backoff.next()).toBe(30_000);
  });

  it('jitters over the whole range, from 100 ms on', () => {
    expect(new Backoff({ ...limits, random: () => 0 }).next()).toBe(100);
    expect(new Backoff({ ...limits, random: () => 0.5 }).next()).toBe(250);
  });

  it('waits at least as long as the server asked for, up to five minutes', () => {
    expect(new Backoff({ ...limits, random: () => 0 }).next(7000)).toBe(7100);
    expect(new Backoff({ ...limits, random: () => 1 }).next(7000)).toBe(7500);
    expect(new Backoff({ ...limits, random: () => 0 }).next(86_400_000)).toBe(300_100);
  });

  it.each([
    0,
    -0,
    -5000,
    Number.NEGATIVE_INFINITY,
    Number.NaN,
  ])('never waits less than its own backoff when asked for %d ms', (asked) => {
    const backoff = new Backoff({ ...limits, random: () => 1 });
    expect([backoff.next(asked), backoff.next(asked), backoff.next(asked)]).toEqual([500, 1000, 2000]);
  });
});
