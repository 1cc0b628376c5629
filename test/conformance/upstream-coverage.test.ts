import { describe, expect, it } from 'vitest';
import { coverageProblems, idsOfTests, upstreamCoverage } from './upstream-coverage.ts';

describe('the cases of upstream’s own tests', () => {
  const rows = upstreamCoverage();

  it('are all in the list', () => {
    const families = ['SM', 'GEN', 'PM', 'MC', 'PR', 'UP', 'TY'];
    const counted = families.map((family) => rows.filter(({ id }) => id.startsWith(`T-${family}-`)).length);
    expect(counted).toEqual([118, 46, 10, 11, 10, 6, 12]);
    expect(rows).toHaveLength(213);
  });

  it('each have a test here, but for those that are not due yet', () => {
    expect(coverageProblems(rows)).toEqual([]);
  });
});

describe('idsOfTests', () => {
  it('finds every id in a title', () => {
    expect(idsOfTests("it('sends once [T-SM-001] [T-SM-002]', () => {});")).toEqual([
      ['T-SM-001', 'sends once [T-SM-001] [T-SM-002]'],
      ['T-SM-002', 'sends once [T-SM-001] [T-SM-002]'],
    ]);
  });

  it('finds the ids of rows, and names them by the title they end up in', () => {
    const source = "it.each([\n  ['keeps it', 'T-GEN-01', 1],\n  ['drops it', 'T-GEN-02', 2],\n])('%s [%s]', () => {});";
    expect(idsOfTests(source)).toEqual([
      ['T-GEN-01', 'keeps it [T-GEN-01]'],
      ['T-GEN-02', 'drops it [T-GEN-02]'],
    ]);
  });

  it('takes no id from a comment', () => {
    expect(idsOfTests("// T-SM-001\n/* 'T-SM-002' */ it('says nothing', () => {});")).toEqual([]);
  });
});

describe('coverageProblems', () => {
  const test = { file: 'test/unit/a.test.ts', name: 'does it [T-SM-001]' };

  it('names a case that lost its test, and one that need not be on the list any more', () => {
    const lost = { id: 'T-SM-001', what: 'a first status', tests: [], notDue: undefined };
    const stale = { id: 'T-SM-002', what: 'a second one', tests: [test], notDue: 'not built' };
    expect(coverageProblems([lost, stale])).toEqual([
      'T-SM-001 (a first status) has no test',
      'T-SM-002 has a test now: take it off the list of those not due',
    ]);
  });

  it('is content with a test, and with a reason', () => {
    const held = { id: 'T-SM-001', what: 'a first status', tests: [test], notDue: undefined };
    const later = { id: 'T-SM-002', what: 'a second one', tests: [], notDue: 'not built' };
    expect(coverageProblems([held, later])).toEqual([]);
  });
});
