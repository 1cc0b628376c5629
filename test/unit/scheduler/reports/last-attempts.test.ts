import { describe, expect, it } from 'vitest';
import { type FailedAttempt, LastAttempts } from '../../../../src/scheduler/reports/last-attempts.ts';
import { diagnosis, failedFit, full, tainted } from './reports-world.ts';

describe('the last attempts', () => {
  it('keep the reasons node by node of the latest ones alone', () => {
    const attempts = new LastAttempts(5);
    const failed = (at: number): FailedAttempt => failedFit(at, diagnosis({ n1: full, n2: tainted }));
    for (const uid of ['a', 'b', 'c']) attempts.set(uid, failed(0));
    const kept = (): boolean[] => ['a', 'b', 'c'].map((uid) => attempts.get(uid)?.diagnosis !== undefined);
    expect(kept()).toEqual([false, true, true]);
    attempts.set('a', failed(1));
    expect(kept()).toEqual([true, false, true]);
    const words = { kind: 'plugin-failed', message: 'not at all', help: undefined } as const;
    attempts.set('c', { at: 1, words, isTold: false, diagnosis: undefined, preemption: undefined });
    attempts.set('b', failed(1));
    expect(kept()).toEqual([true, true, false]);
    expect(attempts.get('c')).toEqual({
      at: 1,
      since: 0,
      attempt: 2,
      words,
      isTold: false,
      fitsNowhere: false,
      diagnosis: undefined,
      preemption: undefined,
    });
    for (const uid of ['a', 'b', 'c']) attempts.delete(uid);
    expect(attempts.size).toBe(0);
    const big = new LastAttempts(1);
    big.set('a', failed(0));
    expect(big.get('a')?.diagnosis).toBeDefined();
  });
});
