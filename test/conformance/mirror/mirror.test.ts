import { describe, expect, it } from 'vitest';
import { mirrorCaseProblem } from './mirror-case.ts';

describe('a line of kind mirror', () => {
  it.each([
    [{ kind: 'mirror', name: 'a' }, 'a mirror case without a node name'],
    [{ kind: 'mirror', name: 'a', nodeName: 'n' }, 'a mirror case without steps'],
    [
      { kind: 'mirror', name: 'a', nodeName: 'n', steps: [{ op: 'recreate', expect: {} }] },
      'step 0: unknown operation "recreate"',
    ],
    [{ kind: 'mirror', name: 'a', nodeName: 'n', steps: [{ op: 'create' }] }, 'step 0: no expectation'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(mirrorCaseProblem(value)).toBe(problem);
  });
});
