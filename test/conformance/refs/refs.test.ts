import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Prng } from '../../random/chaos/prng.ts';
import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { falsifyOut } from '../kinds/falsify-out.ts';
import { agrees, runKind } from '../kinds/run-kind.ts';
import { leastShare, tellLies } from '../kinds/tell-lies.ts';
import { readCases } from '../replay/read-cases.ts';
import { judgeRefs } from './judge-refs.ts';
import { playRefs } from './play-refs.ts';
import { judgeRefNames, type RefNamesCase, refNamesKind } from './ref-names.ts';
import { type RefsCase, refsCaseProblem } from './refs-case.ts';
import { refsKind } from './refs-kind.ts';

function casesOf(kind: string) {
  const file = fileURLToPath(new URL(`../${kind}-public.jsonl.gz`, import.meta.url));
  return readCases(file).byKind.get(kind) ?? [];
}

const recordedManagers = casesOf('refs') as readonly RefsCase[];
const recordedNames = casesOf('refNames') as readonly RefNamesCase[];

describe('replay of what the kubelet did with secrets and config maps', () => {
  it('finds no difference, and excuses nothing', async () => {
    const result = await runKind('refs', refsKind, recordedManagers);
    expect(result).toMatchObject({ cases: 312, differences: [], exemptCases: 0 });
    expect(agrees(result)).toBe(true);
  });

  it('finds a recording that is falsified in one place', async () => {
    const { told, shareFound, missed } = await tellLies(recordedManagers, {
      play: playRefs,
      falsify: falsifyExpect,
      judge: judgeRefs,
    });
    expect(told).toBeGreaterThan(1500);
    expect(shareFound, missed.slice(0, 20).join('; ')).toBeGreaterThanOrEqual(leastShare);
  });

  it('finds a step that was left out', async () => {
    const original = recordedManagers.find(({ mode }) => mode === 'watch') as RefsCase;
    const steps = original.steps.filter(({ op }) => op !== 'register');
    expect(judgeRefs(original, await playRefs({ ...original, steps }))).not.toEqual([]);
  });
});

describe('replay of which secrets and config maps the kubelet finds in a pod', () => {
  it('finds no difference, and excuses nothing', async () => {
    const result = await runKind('refNames', refNamesKind, recordedNames);
    expect(result).toMatchObject({ cases: 1000, differences: [], exemptCases: 0 });
  });

  it('finds a recording that is falsified in one place', () => {
    const prng = new Prng(12);
    const lies = recordedNames.map((original) => falsifyOut(original, prng));
    const missed = lies.filter((falsified) => judgeRefNames(falsified.case).length === 0);
    expect(missed.map(({ lie }) => lie)).toEqual([]);
  });
});

describe('a line of kind refs', () => {
  const line = { kind: 'refs', name: 'a', resource: 'secrets', mode: 'watch' };
  it.each([
    [{ ...line, resource: 'pods' }, 'unknown resource "pods"'],
    [{ ...line, mode: 'guess' }, 'unknown mode "guess"'],
    [line, 'a refs case without steps'],
    [{ ...line, steps: [{ op: 'forget', expect: {} }] }, 'step 0: unknown operation "forget"'],
    [{ ...line, steps: [{ op: 'get' }] }, 'step 0: no expectation'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(refsCaseProblem(value)).toBe(problem);
  });
});

describe('a line of kind refNames', () => {
  it.each([
    [{ kind: 'refNames', name: 'a' }, 'a refNames case without a pod'],
    [{ kind: 'refNames', name: 'a', pod: {} }, 'a refNames case without an outcome'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(refNamesKind.problem(value)).toBe(problem);
  });
});
