import { describe, expect, it } from 'vitest';
import { manifestCaseProblem } from './manifest-case.ts';

describe('a line of kind manifest', () => {
  const whole = { manifest: '', source: 's', isFile: true, nodeName: 'n', out: { parsed: false } };

  it('is taken when it is whole', () => {
    expect(manifestCaseProblem(whole)).toBeUndefined();
  });

  it.each([
    [{ manifest: 1 }, 'a manifest case without a manifest'],
    [{ source: 1 }, 'a manifest case without a source'],
    [{ isFile: 'yes' }, 'a manifest case that does not say whether it is a file'],
    [{ nodeName: 1 }, 'a manifest case without a node name'],
    [{ out: {} }, 'a manifest case without an outcome'],
  ])('is refused when it cannot be played: %j', (change, problem) => {
    expect(manifestCaseProblem({ ...whole, ...change })).toBe(problem);
  });
});
