import { describe, expect, it } from 'vitest';
import { cacheCaseProblem } from './cache-case.ts';

describe('a line of kind cache', () => {
  it.each([
    [{}, 'a cache case without its time to live'],
    [{ ttlSeconds: 30 }, 'a cache case without steps'],
    [{ ttlSeconds: 30, steps: [{ op: 'advance', seconds: 1 }], out: [] }, 'a cache case without one outcome for each step'],
    [{ ttlSeconds: 30, steps: [{ op: 'toString' }], out: [{}] }, 'step 0: unknown operation "toString"'],
    [{ ttlSeconds: 30, steps: [{ op: 'updatePod', pod: {} }], out: [{}] }, 'step 0: no oldPod'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(cacheCaseProblem({ kind: 'cache', name: 'a', ...value })).toBe(problem);
  });
});
