import { describe, expect, it } from 'vitest';
import { backoffCaseProblem } from './backoff-case.ts';

describe('a line of kind backoff', () => {
  it.each([
    [{ kind: 'backoff', name: 'a' }, 'a backoff case without its bounds'],
    [{ kind: 'backoff', name: 'a', baseSeconds: 10, maxSeconds: 300 }, 'a backoff case without steps'],
    [
      { kind: 'backoff', name: 'a', baseSeconds: 10, maxSeconds: 300, steps: [{ op: 'start', expect: {} }] },
      'step 0: unknown operation "start"',
    ],
    [{ kind: 'backoff', name: 'a', baseSeconds: 10, maxSeconds: 300, steps: [{ op: 'gc' }] }, 'step 0: no expectation'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(backoffCaseProblem(value)).toBe(problem);
  });
});
