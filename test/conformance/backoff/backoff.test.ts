import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { agrees, runKind } from '../kinds/run-kind.ts';
import { leastShare, liesOfACase, tellLies } from '../kinds/tell-lies.ts';
import { readCases } from '../replay/read-cases.ts';
import { type BackoffCase, backoffCaseProblem } from './backoff-case.ts';
import { backoffKind } from './backoff-kind.ts';
import { playBackoff } from './play-backoff.ts';

const file = fileURLToPath(new URL('../backoff-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('backoff') ?? []) as readonly BackoffCase[];

describe('replay of how the kubelet delays restarts', () => {
  it('finds no difference, and excuses nothing', async () => {
    const result = await runKind('backoff', backoffKind, cases);
    expect(result).toMatchObject({ cases: 320, differences: [], exemptCases: 0 });
    expect(agrees(result)).toBe(true);
  });

  it('finds a recording that is falsified in one place', async () => {
    const { told, shareFound, missed } = await tellLies(cases, { play: playBackoff, falsify: falsifyExpect, judge: judgeSteps });
    expect(told).toBe(cases.length * liesOfACase);
    expect(shareFound, missed.slice(0, 20).join('; ')).toBeGreaterThanOrEqual(leastShare);
  });

  it('finds a step that was left out', async () => {
    const [original] = cases;
    const steps = original?.steps.filter(({ op }) => op !== 'try') ?? [];
    const outcomes = await playBackoff({ ...(original as BackoffCase), steps });
    expect(judgeSteps(original as BackoffCase, outcomes)).not.toEqual([]);
  });
});

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
