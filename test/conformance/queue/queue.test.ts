import { describe, expect, it } from 'vitest';
import { queueCaseProblem } from './queue-case.ts';

describe('a line of kind queue', () => {
  it.each([
    [{ kind: 'queue', name: 'a' }, 'a queue case without steps'],
    [{ kind: 'queue', name: 'a', steps: [{ op: 'pop' }], out: [] }, 'a queue case without an outcome for each step'],
    [{ kind: 'queue', name: 'a', steps: [{ op: 'push' }], out: [{}] }, 'step 0: unknown operation "push"'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(queueCaseProblem(value)).toBe(problem);
  });
});
