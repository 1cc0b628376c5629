import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCases } from '../replay/read-cases.ts';
import { judgeOwnWays, type OwnWay } from './own-ways.ts';
import { playWorkers } from './play-workers.ts';
import { type WorkersCase, workersCaseProblem } from './workers-case.ts';

const file = fileURLToPath(new URL('../workers-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('workers') ?? []) as readonly WorkersCase[];

describe('replay of what the kubelet’s pod workers did', () => {
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
