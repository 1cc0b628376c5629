import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { agrees, runKind } from '../kinds/run-kind.ts';
import { leastShare, liesOfACase, tellLies } from '../kinds/tell-lies.ts';
import { readCases } from '../replay/read-cases.ts';
import { judgeOwnWays, type OwnWay } from './own-ways.ts';
import { playWorkers } from './play-workers.ts';
import { type WorkersCase, workersCaseProblem } from './workers-case.ts';
import { workersKind } from './workers-kind.ts';

const casesOf = (name: string): readonly WorkersCase[] => {
  const file = fileURLToPath(new URL(`../${name}.jsonl.gz`, import.meta.url));
  return (readCases(file).byKind.get('workers') ?? []) as readonly WorkersCase[];
};
const cases = casesOf('workers-public');

describe('replay of what the kubelet’s pod workers did', () => {
  it('finds no difference, and excuses nothing', async () => {
    const result = await runKind('workers', workersKind, cases);
    expect(result).toMatchObject({ cases: 320, differences: [], exemptCases: 0 });
    expect(agrees(result)).toBe(true);
  });

  it('finds none where a timeout falls due at the very end of a call, and where a static pod comes again that had waited', async () => {
    const result = await runKind('workers', workersKind, casesOf('workers-more'));
    expect(result).toMatchObject({ cases: 2, differences: [], exemptCases: 0 });
  });

  it('differs, in our workers’ own ways, only where a kill, a grace period or what runs unstarted explains it', async () => {
    const differences: string[] = [];
    const ways = new Map<OwnWay, number>();
    for (const one of cases) {
      const result = judgeOwnWays(one, await playWorkers(one, 'own'));
      for (const way of result.ways) ways.set(way, (ways.get(way) ?? 0) + 1);
      differences.push(...result.differences.map((difference) => `${one.name} ${difference}`));
    }
    expect(differences).toEqual([]);
    expect(Object.fromEntries(ways)).toEqual({
      'kill of a pod that is over': 150,
      'grace period': 5,
      'stop of what runs unstarted': 15,
    });
  });

  it('finds a recording that is falsified in one place', async () => {
    const { told, shareFound, missed } = await tellLies(cases, {
      play: (one) => playWorkers(one),
      falsify: falsifyExpect,
      judge: judgeSteps,
    });
    expect(told).toBe(cases.length * liesOfACase);
    expect(shareFound, missed.slice(0, 20).join('; ')).toBeGreaterThanOrEqual(leastShare);
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
