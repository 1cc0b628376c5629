import { isDeepStrictEqual } from 'node:util';
import { falsifyOut } from '../kinds/falsify-out.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { type ClassicCase, type ClassicOutcome, classicCaseProblem } from './classic-case.ts';
import { type ClassicPlayed, playClassic } from './play-classic.ts';
import { upstreamFault } from './policy-faults.ts';

/** Recordings of the classic scheduler, which reads a policy file. */
export const classicKind = replayedKind({
  problem: classicCaseProblem,
  play: playClassic,
  judge: judgeClassic,
  falsify: falsifyOut,
});

/** What differs, member by member. There is no exemption. */
export function judgeClassic({ out }: ClassicCase, { faults = [], ...played }: ClassicPlayed): string[] {
  const fault = out.policyError === undefined ? undefined : upstreamFault(out.policyError);
  const ours = fault !== undefined && faults.includes(fault) ? { ...played, policyError: fault } : played;
  const [expected, got] = [said({ ...out, ...(fault && { policyError: fault }) }), said(ours)];
  const members = [...new Set([...Object.keys(expected), ...Object.keys(got)])];
  return members
    .filter((member) => !isDeepStrictEqual(expected[member], got[member]))
    .map((member) => `${member}: expected ${JSON.stringify(expected[member])}, got ${JSON.stringify(got[member])}`);
}

/** A recording leaves out what is empty. */
function said(out: ClassicOutcome): Readonly<Record<string, unknown>> {
  const isEmpty = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return Object.fromEntries(Object.entries(out).filter(([, value]) => value !== undefined && value !== '' && !isEmpty(value)));
}
