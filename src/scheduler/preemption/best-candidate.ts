// Rules of pickOneNodeForPreemption, pkg/scheduler/framework/preemption, v1.36.3.
import type { Candidate } from './candidate.ts';
import { earliestStartOfHighest } from './importance.ts';

/** Added to each priority, so that none is negative and fewer victims always have the smaller sum. */
const priorityOffset = 2 ** 31;

type Cost = (candidate: Candidate, nowMs: number) => number;

/** The lower, the better. A later cost counts only where all earlier ones are equal. */
const costs: readonly Cost[] = [
  ({ budgetViolations }) => budgetViolations,
  ({ victims }) => Math.max(...victims.map(({ priority }) => priority)),
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + priorityOffset, 0),
  ({ victims }) => victims.length,
  ({ victims }, nowMs) => -earliestStartOfHighest(victims, nowMs),
];

/** The candidates that cost least. More than one where they cost the same; none of none. */
export function bestCandidates(candidates: readonly Candidate[], nowMs: number): readonly Candidate[] {
  let left = candidates;
  for (const cost of costs) {
    if (left.length <= 1) break;
    const each = left.map((candidate) => cost(candidate, nowMs));
    const least = Math.min(...each);
    left = left.filter((_, index) => each[index] === least);
  }
  return left;
}
