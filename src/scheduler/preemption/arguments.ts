import { invalidOption } from '../../base/errors.ts';
import { integerOption, numberOption, requireKnownOptions } from '../../base/options.ts';

/** How many nodes DefaultPreemption looks at before it takes the best: the larger of the two, and never more than there are. */
export interface DefaultPreemptionArguments {
  /** Of the nodes where the end of other pods may help; 0 to 100. Default: 10. */
  readonly minCandidateNodesPercentage: number;
  /** Default: 100. */
  readonly minCandidateNodesAbsolute: number;
}

const known = ['apiVersion', 'kind', 'minCandidateNodesPercentage', 'minCandidateNodesAbsolute'];
const name = 'DefaultPreemptionArgs';

/** Throws ERR_INVALID_OPTION for unknown members, a share outside 0 to 100, a negative number, and where both are 0. */
export function defaultPreemptionArguments(args: unknown): DefaultPreemptionArguments {
  if (args !== undefined) requireKnownOptions(name, args, known);
  const given = (args ?? {}) as Partial<DefaultPreemptionArguments>;
  const percentage = integerOption(`${name}.minCandidateNodesPercentage`, given.minCandidateNodesPercentage ?? 10, 0);
  numberOption(`${name}.minCandidateNodesPercentage`, percentage, 0, 100);
  const absolute = integerOption(`${name}.minCandidateNodesAbsolute`, given.minCandidateNodesAbsolute ?? 100, 0);
  if (percentage === 0 && absolute === 0) {
    throw invalidOption(`${name}.minCandidateNodesAbsolute`, 'at least 1 where minCandidateNodesPercentage is 0', absolute);
  }
  return { minCandidateNodesPercentage: percentage, minCandidateNodesAbsolute: absolute };
}

/** How many candidates are enough, of so many nodes that could become one. */
export function enoughCandidates(args: DefaultPreemptionArguments, nodeCount: number): number {
  const share = Math.floor((nodeCount * args.minCandidateNodesPercentage) / 100);
  return Math.min(Math.max(share, args.minCandidateNodesAbsolute), nodeCount);
}
