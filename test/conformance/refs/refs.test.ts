import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Prng } from '../../random/chaos/prng.ts';
import { falsifyOut } from '../kinds/falsify-out.ts';
import { readCases } from '../replay/read-cases.ts';
import { judgeRefNames, playRefNames, type RefNamesCase, refNamesKind } from './ref-names.ts';
import { refsCaseProblem } from './refs-case.ts';

const file = fileURLToPath(new URL('../refNames-public.jsonl.gz', import.meta.url));
const recordedNames = (readCases(file).byKind.get('refNames') ?? []) as readonly RefNamesCase[];

describe('replay of which secrets and config maps the kubelet finds in a pod', () => {
  it('finds a recording that is falsified in one place', () => {
    const prng = new Prng(12);
    const lies = recordedNames.map((original) => falsifyOut(original, prng));
    const missed = lies.filter((falsified) => judgeRefNames(falsified.case, playRefNames(falsified.case)).length === 0);
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
