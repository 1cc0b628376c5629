import { describe, expect, it } from 'vitest';
import { configCaseProblem } from './config-case.ts';

describe('a line of kind config', () => {
  const whole = { kind: 'config', name: 'a', start: '2000-01-01T00:00:00Z', seenSets: [], steps: [] };
  it.each([
    [whole, undefined],
    [{ ...whole, start: undefined }, 'a config case without a start'],
    [{ ...whole, seenSets: undefined }, 'a config case without sets of sources'],
    [{ ...whole, steps: undefined }, 'a config case without steps'],
    [{ ...whole, steps: [{ op: 'unset', expect: {} }] }, 'step 0: unknown operation "unset"'],
    [{ ...whole, steps: [{ op: 'advance', seconds: 1 }] }, 'step 0: no expectation'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(configCaseProblem(value)).toBe(problem);
  });
});
