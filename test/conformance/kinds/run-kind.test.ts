import { describe, expect, it } from 'vitest';
import type { CaseKind, CaseResult, KindCase } from './case-kind.ts';
import { agrees, runKind } from './run-kind.ts';

const cases: KindCase[] = Array.from({ length: 100 }, (_, index) => ({ kind: 'guess', name: `case ${index}` }));

function kindOf(replay: (name: string) => CaseResult): CaseKind {
  return { problem: () => undefined, replay: async ({ name }) => replay(name) };
}

const same: CaseResult = { differences: [], exemptions: [] };

describe('runKind', () => {
  it('agrees where every case does', async () => {
    const result = await runKind(
      'guess',
      kindOf(() => same),
      cases,
    );
    expect(result).toMatchObject({ cases: 100, differences: [], exemptCases: 0, exemptAtMost: 3 });
    expect(agrees(result)).toBe(true);
  });

  it('names the case that differs, and one whose replay throws', async () => {
    const result = await runKind(
      'guess',
      kindOf((name) => {
        if (name === 'case 3') throw new Error('mistake');
        return name === 'case 7' ? { ...same, differences: ['other'] } : same;
      }),
      cases,
    );
    expect(result.differences.map(({ name }) => name)).toEqual(['case 3', 'case 7']);
    expect(result.differences[0]?.says[0]).toContain('mistake');
    expect(agrees(result)).toBe(false);
  });

  it('does not agree where rules excuse more than three cases of a hundred', async () => {
    const excusing = (upTo: number) =>
      kindOf((name) => (Number(name.slice(5)) < upTo ? { ...same, exemptions: ['D99', 'D99'] } : same));
    const [few, many] = [await runKind('guess', excusing(3), cases), await runKind('guess', excusing(4), cases)];
    expect([agrees(few), few.exempt.get('D99')]).toEqual([true, 3]);
    expect([agrees(many), many.exempt.get('D99')]).toEqual([false, 4]);
  });
});
