import { isDeepStrictEqual } from 'node:util';
import type { CaseKind, CaseResult } from '../kinds/case-kind.ts';
import { type FilterScoreCase, type FilterScoreOutcome, filterScoreCaseProblem } from './case.ts';
import { playFilterScore } from './player.ts';

/** Recordings of how the scheduler judges nodes for a pod: which fit, why others do not, and what each is worth. */
export const filterScoreKind: CaseKind<FilterScoreCase> = { problem: filterScoreCaseProblem, replay: replayFilterScore };

async function replayFilterScore(recorded: FilterScoreCase): Promise<CaseResult> {
  return { differences: judgeFilterScore(recorded, playFilterScore(recorded)), exemptions: [] };
}

/** What differs, member by member. There is no exemption. */
export function judgeFilterScore({ out }: FilterScoreCase, played: FilterScoreOutcome): string[] {
  const [expected, got] = [said(out), said(played)];
  const members = [...new Set([...Object.keys(expected), ...Object.keys(got)])];
  return members
    .filter((member) => !isDeepStrictEqual(expected[member], got[member]))
    .map((member) => `${member}: expected ${JSON.stringify(expected[member])}, got ${JSON.stringify(got[member])}`);
}

/** A recording leaves out what is empty. */
function said(out: FilterScoreOutcome): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(out).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined || value === '';
  return Object.keys(value).length === 0;
}
