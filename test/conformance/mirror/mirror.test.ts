import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { agrees, runKind } from '../kinds/run-kind.ts';
import { leastShare, liesOfACase, tellLies } from '../kinds/tell-lies.ts';
import { readCases } from '../replay/read-cases.ts';
import { type MirrorCase, mirrorCaseProblem } from './mirror-case.ts';
import { mirrorKind } from './mirror-kind.ts';
import { playMirror } from './play-mirror.ts';

const file = fileURLToPath(new URL('../mirror-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('mirror') ?? []) as readonly MirrorCase[];

describe('replay of what the kubelet did with mirror pods', () => {
  it('finds no difference, and excuses nothing', async () => {
    const result = await runKind('mirror', mirrorKind, cases);
    expect(result).toMatchObject({ cases: 320, differences: [], exemptCases: 0 });
    expect(agrees(result)).toBe(true);
  });

  it('finds a recording that is falsified in one place', async () => {
    const { told, shareFound, missed } = await tellLies(cases, { play: playMirror, falsify: falsifyExpect, judge: judgeSteps });
    expect(told).toBe(cases.length * liesOfACase);
    expect(shareFound, missed.slice(0, 20).join('; ')).toBeGreaterThanOrEqual(leastShare);
  });

  it('finds a step that was left out', async () => {
    const [original] = cases;
    const steps = original?.steps.filter(({ op }) => op !== 'create') ?? [];
    const outcomes = await playMirror({ ...(original as MirrorCase), steps });
    expect(judgeSteps(original as MirrorCase, outcomes)).not.toEqual([]);
  });
});

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
