import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Prng } from '../../random/chaos/prng.ts';
import { readCases } from '../replay/read-cases.ts';
import { falsifyPhase, judgePhase, type PhaseCase, phaseCaseProblem, playPhase } from './phase-kind.ts';

const file = fileURLToPath(new URL('../phase-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('phase') ?? []) as readonly PhaseCase[];

describe('replay of the phases that the kubelet gave', () => {
  it('finds every recording that says another phase', () => {
    const prng = new Prng(11);
    const falsified = cases.map((original) => falsifyPhase(original, prng));
    expect(falsified.filter((lie) => judgePhase(lie.case, playPhase(lie.case)).length === 0)).toEqual([]);
  });

  it('notices when an answer about the pod is not heeded', () => {
    for (const key of ['podIsTerminal', 'podHasInitialized'] as const) {
      const turned = cases.map((original) => ({ ...original, [key]: !original[key] }));
      expect(turned.filter((one) => judgePhase(one, playPhase(one)).length > 0).length).toBeGreaterThan(10);
    }
  });
});

describe('a line of kind phase', () => {
  const whole = {
    kind: 'phase',
    name: 'a',
    pod: {},
    statuses: [],
    podIsTerminal: false,
    podHasInitialized: false,
    out: 'Pending',
  };

  it('can be played when nothing is missing', () => {
    expect(phaseCaseProblem(whole)).toBeUndefined();
  });

  it.each([
    ['pod', 'a phase case without a pod'],
    ['statuses', 'a phase case without statuses'],
    ['podIsTerminal', 'a phase case without its two answers'],
    ['podHasInitialized', 'a phase case without its two answers'],
    ['out', 'a phase case without an outcome'],
  ])('is refused without %s', (member, problem) => {
    expect(phaseCaseProblem({ ...whole, [member]: undefined })).toBe(problem);
  });
});
