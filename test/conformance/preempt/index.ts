import { isDeepStrictEqual } from 'node:util';
import type { CaseKind, CaseResult } from '../kinds/case-kind.ts';
import { type PreemptCase, type PreemptOutcome, preemptCaseProblem } from './case.ts';
import { playPreempt } from './player.ts';

/** Recordings of how the scheduler makes room for a pod that fits nowhere. */
export const preemptKind: CaseKind<PreemptCase> = { problem: preemptCaseProblem, replay: replayPreempt };

async function replayPreempt(recorded: PreemptCase): Promise<CaseResult> {
  return { differences: judgePreempt(recorded, playPreempt(recorded)), exemptions: [] };
}

/** What differs, member by member. There is no exemption. */
export function judgePreempt({ out }: PreemptCase, played: PreemptOutcome): string[] {
  const [expected, got] = [said(out), said(played)];
  const members = [...new Set([...Object.keys(expected), ...Object.keys(got)])];
  return members
    .filter((member) => !isDeepStrictEqual(expected[member], got[member]))
    .map((member) => `${member}: expected ${JSON.stringify(expected[member])}, got ${JSON.stringify(got[member])}`);
}

/** A recording leaves out what is empty. */
function said(out: PreemptOutcome): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(out).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined || value === '' || value === false;
  return Object.keys(value).length === 0;
}
