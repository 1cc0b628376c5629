import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCases } from '../replay/read-cases.ts';
import { playPreempt } from './play-preempt.ts';
import { type PreemptCase, preemptCaseProblem } from './preempt-case.ts';
import { judgePreempt } from './preempt-kind.ts';

const file = fileURLToPath(new URL('../preempt-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('preempt') ?? []) as readonly PreemptCase[];

describe('replay of how the scheduler makes room for a pod', () => {
  it('finds a pod and a budget that were left out', () => {
    const withVictims = cases.find(({ out }) => out.best?.length === 1) as PreemptCase;
    expect(judgePreempt(withVictims, playPreempt({ ...withVictims, pods: [] }))).not.toEqual([]);
    const violating = cases.find(({ out }) => Object.values(out.candidates ?? {}).some(({ pdbViolations }) => pdbViolations));
    expect(violating).toBeDefined();
    const { podDisruptionBudgets: _, ...withoutBudgets } = violating as PreemptCase;
    expect(judgePreempt(violating as PreemptCase, playPreempt(withoutBudgets))).not.toEqual([]);
  });
});

describe('a line of kind preempt', () => {
  it.each([
    [{ kind: 'preempt', name: 'a' }, 'a preempt case without nodes'],
    [{ kind: 'preempt', name: 'a', nodes: [] }, 'a preempt case without a pod'],
    [{ kind: 'preempt', name: 'a', nodes: [], pod: {} }, 'a preempt case without an outcome'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(preemptCaseProblem(value)).toBe(problem);
  });
});
