import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Prng } from '../../chaos/prng.ts';
import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { agrees, runKind } from '../kinds/run-kind.ts';
import { readCases } from '../replay/read-cases.ts';
import { type WorkersCase, workersCaseProblem } from './case.ts';
import { workersKind } from './index.ts';
import { playWorkers } from './player.ts';

const file = fileURLToPath(new URL('../workers-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('workers') ?? []) as readonly WorkersCase[];
const liesOfACase = 5;
const leastShare = 0.95;

describe('replay of what the kubelet’s pod workers did', () => {
  it('finds no difference, and excuses nothing', async () => {
    const result = await runKind('workers', workersKind, cases);
    expect(result).toMatchObject({ cases: 320, differences: [], exemptCases: 0 });
    expect(agrees(result)).toBe(true);
  });

  it('finds a recording that is falsified in one place', async () => {
    const prng = new Prng(11);
    const missed: string[] = [];
    let told = 0;
    for (const original of cases) {
      const outcomes = await playWorkers(original);
      for (let i = 0; i < liesOfACase; i++) {
        const falsified = falsifyExpect(original, prng);
        if (falsified === undefined) continue;
        told += 1;
        if (judgeSteps(falsified.case, outcomes).length === 0) missed.push(`${original.name} ${falsified.lie}`);
      }
    }
    expect(told).toBe(cases.length * liesOfACase);
    expect(1 - missed.length / told, missed.join('; ')).toBeGreaterThanOrEqual(leastShare);
  });

  it('finds a step that was left out', async () => {
    const [original] = cases;
    const steps = original?.steps.filter(({ op }) => op !== 'update') ?? [];
    const outcomes = await playWorkers({ ...(original as WorkersCase), steps });
    expect(judgeSteps(original as WorkersCase, outcomes)).not.toEqual([]);
  });
});

describe('a line of kind workers', () => {
  it.each([
    [{ kind: 'workers', name: 'a' }, 'a workers case without steps'],
    [{ kind: 'workers', name: 'a', steps: [{ op: 'start', expect: {} }] }, 'step 0: unknown operation "start"'],
    [{ kind: 'workers', name: 'a', steps: [{ op: 'advance', seconds: 1 }] }, 'step 0: no expectation'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(workersCaseProblem(value)).toBe(problem);
  });
});
