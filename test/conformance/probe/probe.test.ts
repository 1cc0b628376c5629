import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { agrees, runKind } from '../kinds/run-kind.ts';
import { leastShare, tellLies } from '../kinds/tell-lies.ts';
import { readCases } from '../replay/read-cases.ts';
import { judgeProbes } from './judge-probes.ts';
import { playProbes } from './play-probes.ts';
import { type ProbeCase, probeCaseProblem } from './probe-case.ts';
import { probeKind } from './probe-kind.ts';

const file = fileURLToPath(new URL('../probe-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('probe') ?? []) as readonly ProbeCase[];

describe('replay of what the kubelet did with probes', () => {
  it('finds no difference, and excuses nothing', async () => {
    const result = await runKind('probe', probeKind, cases);
    expect(result).toMatchObject({ cases: 320, differences: [], exemptCases: 0 });
    expect(agrees(result)).toBe(true);
  });

  it('finds a recording that is falsified in one place', async () => {
    const { told, shareFound, missed } = await tellLies(cases, { play: playProbes, falsify: falsifyExpect, judge: judgeProbes });
    expect(told).toBeGreaterThan(cases.length * 4);
    expect(shareFound, missed.slice(0, 20).join('; ')).toBeGreaterThanOrEqual(leastShare);
  });

  it('finds a step that was left out', async () => {
    const original = cases.find(({ steps }) => steps.some(({ expect: { runs } }) => runs !== undefined)) as ProbeCase;
    const played = await playProbes({ ...original, steps: original.steps.filter(({ op }) => op !== 'add') });
    expect(judgeProbes(original, played)).not.toEqual([]);
  });

  it('finds a timer that a stopped manager leaves', async () => {
    const [original] = cases;
    const { outcomes } = await playProbes(original as ProbeCase);
    expect(judgeProbes(original as ProbeCase, { outcomes, leftTimers: 1 })).toEqual(['the stopped manager left 1 timers']);
  });
});

describe('a line of kind probe', () => {
  it.each([
    [{ kind: 'probe', name: 'a' }, 'a probe case without steps'],
    [{ kind: 'probe', name: 'a', steps: [{ op: 'poke', expect: {} }] }, 'step 0: unknown operation "poke"'],
    [{ kind: 'probe', name: 'a', steps: [{ op: 'remove' }] }, 'step 0: no expectation'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(probeCaseProblem(value)).toBe(problem);
  });
});
