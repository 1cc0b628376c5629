import { describe, expect, it } from 'vitest';
import { FailureRun } from '../../../src/base/failure-run.ts';
import { frozenProblem } from '../../../src/base/problem.ts';
import { textBeginning } from '../../../src/base/text-beginning.ts';
import { readApiFailure } from '../../../src/client/resources/error-class.ts';
import { PodTroubles } from '../../../src/kubelet/pods/pod-troubles.ts';
import { shortErrorText } from '../../../src/node/provider/provider-calls.ts';
import { buildPod, FakeClock } from '../../../src/testing.ts';
import { heldBytes } from '../../support/held-bytes.ts';

const clock = new FakeClock();
const pod = buildPod({ metadata: { name: 'web', uid: 'u1' } });

function failureRun(text: string): unknown {
  const run = new FailureRun(clock);
  run.failed(text);
  return run;
}

function podTroubles(text: string): unknown {
  const troubles = new PodTroubles(clock);
  troubles.failed(pod, 'sync', { kind: 'sync', message: text, help: undefined });
  return troubles;
}

describe('textBeginning', () => {
  it('gives a short text as it is, and the beginning of a long one, whatever is cut in two', () => {
    expect([textBeginning('', 3), textBeginning('abc', 3), textBeginning('abcd', 3)]).toEqual(['', 'abc', 'abc']);
    expect(textBeginning('ab\u{1f600}', 3)).toBe('ab\ud83d');
  });

  it.each<[string, (text: string) => unknown]>([
    ['the beginning itself', (text) => textBeginning(text, 100)],
    ['a run of failures', failureRun],
    ['the trouble of a pod', podTroubles],
    ['a failure of a provider', (text) => shortErrorText(new Error(text))],
    ['a failure of a request', (text) => readApiFailure({ status: 403, message: text })],
    ['a problem', (text) => frozenProblem({ kind: 'sync', message: text, attempt: 1 })],
  ])('leaves the rest of a long text to the collector: %s', (_what, keep) => {
    const kept: unknown[] = [];
    const held = heldBytes(() => {
      for (let i = 0; i < 20; i++) kept.push(keep(`${i}${'no-room-'.repeat(20_000)}`));
    });
    expect(kept).toHaveLength(40);
    expect(held).toBeLessThan(500_000);
  });
});
