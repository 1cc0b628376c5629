import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCases } from '../replay/read-cases.ts';
import { type ClaimsCase, claimsCaseProblem } from './claims-case.ts';
import { judgeClaims } from './claims-kind.ts';

const file = fileURLToPath(new URL('../claims-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('claims') ?? []) as readonly ClaimsCase[];
const ends = cases.flatMap(({ out }) => Object.values(out.fits ?? {}));
const writes = ends.flatMap((end) => end.writes ?? []);
const hints = cases.flatMap(({ out }) => out.hints ?? []);

describe('recordings of claims', () => {
  it.each<[string, number, number]>([
    ['pods that are not tried', cases.filter(({ out }) => out.gate).length, 40],
    ['pods that are rejected as such', cases.filter(({ out }) => out.preFilter).length, 60],
    ['nodes that do not fit', cases.flatMap(({ out }) => Object.keys(out.failed ?? {})).length, 200],
    ['nodes that fit', ends.length, 150],
    ['scores', ends.filter(({ score }) => score).length, 20],
    ['finalizers', writes.filter(({ finalizers }) => finalizers).length, 100],
    ['allocations', writes.filter(({ status }) => status).length, 120],
    ['reservations that are given back', ends.filter(({ undone }) => undone).length, 100],
    ['devices that are not ready in time', ends.filter(({ error }) => error?.includes('timeout')).length, 15],
    ['claims that have changed meanwhile', ends.filter(({ error }) => error?.includes('in the meantime')).length, 4],
    ['claims that lose their devices', cases.filter(({ out }) => out.postFilter?.startsWith('deallocation')).length, 5],
    ['changes that help', hints.filter((hint) => hint === 'Queue').length, 300],
    ['changes that do not', hints.filter((hint) => hint === 'Skip').length, 300],
  ])('hold %s', (_name, count, least) => {
    expect(count).toBeGreaterThanOrEqual(least);
  });
});

describe('a line of kind claims', () => {
  const lists = { nodes: [], classes: [], slices: [], claims: [], events: [] };

  it.each([
    [{}, 'a claims case without nodes, classes, slices, claims or events'],
    [lists, 'a claims case without a pod'],
    [{ ...lists, pod: {} }, 'a claims case without what came of it'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(claimsCaseProblem({ kind: 'claims', name: 'a', ...value })).toBe(problem);
  });

  it('is judged by what came of it, but for the words of errors that are not of claims', () => {
    const failing = (error: string) => ({ fits: { n: { error } } });
    const judge = (out: object, played: object) => judgeClaims({ out } as ClaimsCase, played);
    expect(judge(failing('one'), failing('two'))).toEqual([]);
    expect(judge(failing('device binding timeout'), failing('two'))).toHaveLength(1);
    expect(judge({ fits: { n: { writes: [{ what: 'a' }] } } }, { fits: { n: {} } })).toHaveLength(1);
    expect(judge({ postFilter: 'error' }, { postFilter: 'done', writes: [{ what: 'a' }] })).toEqual([]);
    expect(judge({ postFilter: 'none' }, { postFilter: 'done' })).toHaveLength(1);
  });
});
