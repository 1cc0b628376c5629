import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCases } from '../replay/read-cases.ts';
import { judgeProbes } from './judge-probes.ts';
import { playProbes } from './play-probes.ts';
import { type ProbeCase, probeCaseProblem } from './probe-case.ts';

const file = fileURLToPath(new URL('../probe-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('probe') ?? []) as readonly ProbeCase[];

describe('replay of what the kubelet did with probes', () => {
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
