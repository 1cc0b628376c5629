import type { LastFailure } from '../../base/concurrency/run-state.ts';
import { frozenProblem, type Problem } from '../../base/problem.ts';
import { apiProblem, failureInWords } from '../../client/resources/api-problem.ts';
import { ApiError } from '../../client/transport/api-error.ts';

const rightsHelp =
  "Give this member's user the right that is missing: the message names both. deploy/fleet.yaml has all that a fleet needs for its Leases, in the namespace of its option.";

/** A request for a Lease of the fleet that is made again and again. */
export function leaseProblem(what: string, { error, since, attempt = 1, retryAt }: LastFailure): Problem {
  const problem = apiProblem(what, error, { since, attempt, retryAt });
  return problem.kind === 'forbidden' ? frozenProblem({ ...problem, help: rightsHelp }) : problem;
}

/** What helps where a shard was lost by no word of its Lease. */
export const lossHelp = {
  ofStop: 'Give the stop more time (timeoutMs): another member takes the shard once its Lease has run out.',
  ofLook: 'See the line of the look that has failed: it has the error.',
} as const;

/**
 * A shard that this member has lost: no try of its own comes any more. `failure`: why its Lease could not be written last, where that is known.
 * `help`: where the Lease has nothing to do with it.
 */
export function lostShardProblem(shard: number, why: string, failure: LastFailure | undefined, help?: string): Problem {
  const message = `this member has lost shard ${shard}: ${why}`;
  if (failure !== undefined && help === undefined) {
    const { retryAt: _, ...refused } = leaseProblem(`the Lease of shard ${shard} could not be written`, failure);
    return frozenProblem({ ...refused, message: `${message}; ${refused.message}` });
  }
  const words = failureInWords(new ApiError({ reason: 'NotOwner', message: why }));
  return frozenProblem({ ...words, message, attempt: 0, ...(help !== undefined && { help }) });
}
