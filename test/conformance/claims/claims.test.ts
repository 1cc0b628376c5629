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
    ['claims that have changed meanwhile', ends.filter(({ error }) => error?.includes('in the meantime')).length, 15],
    ['claims that lose their devices', cases.filter(({ out }) => out.postFilter?.startsWith('deallocation')).length, 25],
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

  const judge = (recorded: Partial<ClaimsCase>, played: object) => judgeClaims(recorded as ClaimsCase, played);
  const ended = (end: object) => ({ fits: { n: end } });

  it.each<[string, object, object, number]>([
    ['a write that is missing', ended({ writes: [{ what: 'a' }] }), ended({}), 1],
    ['other words of an error', ended({ error: 'one' }), ended({ error: 'two' }), 1],
    ['who is late', ended({ error: 'device binding timeout' }), ended({ error: 'device binding timeout: claim=c' }), 0],
    [
      'an error that is not lateness',
      ended({ error: 'device binding timeout' }),
      ended({ error: 'device binding timeout: none of it' }),
      1,
    ],
    ['a member that ours does not have', { failed: { n: { code: 'Error', more: 1 } } }, { failed: { n: { code: 'Error' } } }, 1],
    ['another end', { postFilter: 'none' }, { postFilter: 'done' }, 1],
  ])('is judged by %s', (_what, out, played, count) => {
    expect(judge({ claims: [], out }, played)).toHaveLength(count);
  });

  it.each([
    ['claim d/c: selector #1', 'CEL runtime error', 'failed at a device', 0],
    ['class d: selector #0', 'CEL compile error', 'cannot be compiled', 0],
    ['class d: selector #0', 'CEL compile error', 'failed at a device', 1],
    ['class d, selector #0', 'CEL compile error', 'cannot be compiled', 1],
  ])('is judged by whose selector fails, and how: %s, %s, %s', (whose, upstream, ours, count) => {
    const failed = (reason: string) => ({ failed: { n: { code: 'Error', reasons: [`${whose}: ${reason}`] } } });
    const words = `The device selector "a\\n: b" ${ours}: words of ours`;
    expect(judge({ claims: [], out: failed(`${upstream}: words\nof cel-go`) }, failed(words))).toHaveLength(count);
  });

  it('is judged by the order in which upstream gives claims back, and not by the one of ours', () => {
    const claims = ['c', 'b'].map((name) => ({ metadata: { name } })) as unknown as ClaimsCase['claims'];
    const undone = (...names: string[]) => ended({ undone: names.map((name) => ({ what: `status ${name}`, status: {} })) });
    expect(judge({ claims, out: undone('c', 'b') }, undone('b', 'c'))).toEqual([]);
    expect(judge({ claims, out: undone('b', 'c') }, undone('b', 'c'))).toHaveLength(1);
    expect(judge({ claims, out: undone('c') }, undone('b', 'c'))).toHaveLength(1);
  });

  it.each([
    [['p'], [{ what: 'status c', status: {} }], 0],
    [[], [{ what: 'status c', status: {} }], 0],
    [['p', 'q'], undefined, 0],
    [['p'], undefined, 1],
    [['q'], [{ what: 'status c', status: {} }], 1],
  ])('where upstream gives up is judged by the newest version, used by %j', (users, writes, count) => {
    const status = { allocation: {}, reservedFor: users.map((uid) => ({ uid })) };
    const server = [{ metadata: { name: 'c' }, status }] as unknown as ClaimsCase['claims'];
    const recorded = { pod: { metadata: { uid: 'p' } }, claims: [], server, out: { postFilter: 'error' } };
    const played = { postFilter: 'deallocation of ResourceClaim completed', ...(writes && { writes }) };
    expect(judge(recorded as Partial<ClaimsCase>, played)).toHaveLength(count);
  });

  it('may end for a claim that has got other devices meanwhile, and for no other one', () => {
    const claim = (device?: string) => ({
      metadata: { name: 'c' },
      status: device === undefined ? {} : { allocation: { devices: { results: [{ device }] } } },
    });
    const judge = (claims: object[], server: object[]) =>
      judgeClaims({ claims, server, out: { fits: { n: { writes: [] }, o: {} } } } as unknown as ClaimsCase, {
        fits: { n: { error: 'claim d/c got allocated elsewhere in the meantime' }, o: {} },
      });
    expect(judge([claim('a')], [claim('b')])).toEqual([]);
    for (const [seen, now] of [
      [claim('a'), claim('a')],
      [claim(), claim('b')],
      [claim('a'), claim()],
    ])
      expect(judge([seen as object], [now as object])).toHaveLength(1);
  });
});
