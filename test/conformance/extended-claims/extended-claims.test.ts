import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCases } from '../replay/read-cases.ts';
import { type ExtendedClaimsCase, extendedClaimsCaseProblem } from './extended-claims-case.ts';
import { judgeExtendedClaims } from './extended-claims-kind.ts';

const file = fileURLToPath(new URL('../extendedClaims-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('extendedClaims') ?? []) as readonly ExtendedClaimsCase[];
const rejections = cases.flatMap(({ out }) => Object.values(out.failed ?? {}));
const ends = cases.flatMap(({ out }) => Object.values(out.fits ?? {}));
const writes = ends.flatMap((end) => end.writes ?? []);
const undone = ends.flatMap((end) => end.undone ?? []);
const made = writes.flatMap((write) => (write.made === undefined ? [] : [write.made]));
const hints = cases.flatMap(({ out }) => (out.hints ?? []).map((hint) => hint.NodeResourcesFit));

describe('recordings of extended claims', () => {
  it.each<[string, number, number]>([
    ['pods for which DynamicResources has nothing to do', cases.filter(({ out }) => out.skip).length, 40],
    ['pods like many others', cases.filter(({ out }) => out.signed).length, 50],
    ['nodes with too little', rejections.filter(({ plugin }) => plugin === 'NodeResourcesFit').length, 300],
    ['nodes with too few devices', rejections.filter(({ plugin }) => plugin === 'DynamicResources').length, 100],
    ['claims that were left', cases.filter(({ out }) => out.postFilter?.startsWith('deletion')).length, 20],
    ['nodes that fit', ends.length, 200],
    ['claims that are made', made.length, 100],
    ['claims with several requests', made.filter(({ spec }) => (spec.devices?.requests ?? []).length > 1).length, 50],
    ['pods that are told of their claim', writes.filter(({ extended }) => extended).length, 100],
    ['claims that are deleted', undone.filter(({ what }) => what.startsWith('delete')).length, 100],
    ['writes that the server refuses', ends.filter(({ error }) => error?.includes('refused')).length, 25],
    ['devices that are not ready in time', ends.filter(({ error }) => error?.includes('timeout')).length, 10],
    ['changes that help where something was short', hints.filter((hint) => hint === 'Queue').length, 300],
    ['changes that do not', hints.filter((hint) => hint === 'Skip').length, 300],
  ])('hold %s', (_what, count, least) => {
    expect(count).toBeGreaterThanOrEqual(least);
  });
});

describe('a line of kind extendedClaims', () => {
  it('is refused when it cannot be played', () => {
    const lists = { nodes: [], classes: [], slices: [], claims: [], events: [] };
    const problem = (value: object) => extendedClaimsCaseProblem({ kind: 'extendedClaims', name: 'a', ...value });
    expect(problem({})).toBe('a case of extended claims without nodes, classes, slices, claims or events');
    expect(problem({ ...lists, pod: {}, out: {} })).toBeUndefined();
  });

  it('is judged by what came of it, but for the words of errors that are not of claims', () => {
    const failing = (error: string) => ({ fits: { n: { error } } });
    const judge = (out: object, played: object) => judgeExtendedClaims({ out } as ExtendedClaimsCase, played);
    expect(judge(failing('one'), failing('two'))).toEqual([]);
    expect(judge(failing('refused'), failing('two'))).toHaveLength(1);
    expect(judge({ fits: { n: { writes: [{ what: 'create' }] } } }, { fits: { n: {} } })).toHaveLength(1);
    expect(judge({ fits: { n: { undone: [{ what: 'delete a' }] } } }, { fits: { n: {} } })).toHaveLength(1);
    expect(judge({ postFilter: 'error', writes: [{ what: 'a' }] }, { postFilter: 'done' })).toHaveLength(1);
    expect(judge({ signed: true }, {})).toHaveLength(1);
    expect(judge({ failed: { n: { plugin: 'a', code: 'b' } } }, { failed: { n: { plugin: 'c', code: 'b' } } })).toHaveLength(1);
  });
});
