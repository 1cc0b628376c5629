import { describe, expect, it } from 'vitest';
import {
  frozenProblem,
  notesOf,
  type PodProblem,
  problemFields,
  problemText,
  roundedDuration,
} from '../../../src/base/problem.ts';

const now = 1_000_000;

function podProblem(name: string, more: Partial<PodProblem> = {}): PodProblem {
  const pod = { podUID: `uid-${name}`, podNamespace: 'default', podName: name };
  return frozenProblem({
    kind: 'create-pod',
    message: 'createPod() failed: quota exceeded',
    attempt: 2,
    since: now - 7000,
    retryAt: now + 6000,
    ...pod,
    ...more,
  });
}

describe('problem', () => {
  it('says what failed, how often, for how long, when next, and what would help', () => {
    const help = 'Raise the quota.';
    expect(problemText(podProblem('web', { help }), now)).toBe(
      'createPod() failed: quota exceeded. It has failed twice, for 7.0 s. Next try in 6.0 s. Raise the quota.',
    );
  });

  it('leaves out what is not known', () => {
    expect(problemText({ kind: 'gone', message: 'the pod is gone', attempt: 0 }, now)).toBe('the pod is gone.');
    expect(problemText({ kind: 'gone', message: 'the pod is gone', attempt: 0, since: now - 90_000 }, now)).toBe(
      'the pod is gone. It has been so for 90 s.',
    );
  });

  it('makes one line of any message, and cuts a long one', () => {
    expect(podProblem('web', { message: 'a\n  b.\n' }).message).toBe('a b');
    expect(podProblem('web', { message: 'x'.repeat(5000) }).message).toHaveLength(600);
  });

  it('hides credentials', () => {
    const message = 'POST https://admin:hunter2@cloud.example/v1?token=abc&x=1 (Authorization: Bearer abcdefghijklmnop)';
    expect(podProblem('web', { message }).message).toBe(
      'POST https://(hidden)@cloud.example/v1?token=(hidden)&x=1 (Authorization: Bearer (hidden))',
    );
  });

  it('notes each problem of no pod, and one pod of each kind: the one that has had it longest', () => {
    const problems = [
      { kind: 'forbidden', message: 'the Lease could not be renewed: no', attempt: 3, retryAt: now + 500 },
      podProblem('web'),
      podProblem('old', { since: now - 60_000 }),
      podProblem('other', { kind: 'delete-pod', message: 'deletePod() failed: busy', attempt: 1, retryAt: undefined }),
    ];
    expect(notesOf(problems, now)).toEqual([
      'the Lease could not be renewed: no; failed 3 times, next try in 500 ms',
      'default/old: createPod() failed: quota exceeded; failed twice, next try in 6.0 s (2 pods have a problem of this kind)',
      'default/other: deletePod() failed: busy',
    ]);
  });

  it('has no notes when all is well, and at most 21 otherwise', () => {
    expect(notesOf([], now)).toEqual([]);
    const problems = Array.from({ length: 100 }, (_, index) => ({ kind: 'any', message: `it ${index}`, attempt: 0 }));
    expect(notesOf(problems, now)).toHaveLength(21);
    expect(notesOf(problems, now).at(-1)).toBe('and 80 more');
  });

  it('gives a log line durations', () => {
    expect(problemFields(podProblem('web'), now)).toEqual({
      ...{ problemKind: 'create-pod', attempt: 2, failingForMs: 7000, retryInMs: 6000 },
    });
  });

  it.each([
    [-5, '0 ms'],
    [0.4, '0 ms'],
    [999, '999 ms'],
    [1_000, '1.0 s'],
    [59_000, '59 s'],
    [600_000, '10 min'],
    [86_400_000, '24 h'],
  ])('says %d ms as %s', (ms, text) => {
    expect(roundedDuration(ms)).toBe(text);
  });
});
