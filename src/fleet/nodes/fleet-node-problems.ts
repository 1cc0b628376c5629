import type { LastFailure } from '../../base/concurrency/run-state.ts';
import { errorText } from '../../base/errors.ts';
import { frozenProblem, type Problem } from '../../base/problem.ts';
import { answerOf, apiProblem } from '../../client/resources/api-problem.ts';

/** Why a node is not as its source has it. */
export interface NamedFailure extends LastFailure {
  readonly nodeName: string;
}

/** Why the last start of a node has failed. Times in milliseconds since the epoch. */
export interface NodeStartFailure {
  readonly error: unknown;
  readonly since: number;
  readonly attempt: number;
  readonly retryAt: number;
}

/** The source of the nodes has failed, or told of what is no change of a node. */
export function nodesProblem({ error, at }: LastFailure): Problem {
  const message = `the nodes of the fleet are not all known: ${answerOf(errorText(error))}`;
  const help = 'Mend the source of the nodes that the fleet was given: what it has told before stays.';
  return frozenProblem({ kind: 'fleet-nodes', message, since: at, attempt: 1, help });
}

/** A node that the source tells of, and whose options cannot be used. `isLeftOut`: it does not run with older ones either. */
export function nodeOptionsProblem({ nodeName, error, at }: NamedFailure, isLeftOut: boolean): Problem {
  const what = isLeftOut ? 'is left out' : 'goes on with the options that it had';
  const message = `node ${nodeName} ${what}: ${answerOf(errorText(error))}`;
  const help =
    'Mend what the message names: it is looked at again when the source tells of the node again, or its object changes.';
  return frozenProblem({ kind: 'fleet-nodes', message, since: at, attempt: 1, help });
}

export function nodeStartProblem(nodeName: string, { error, since, attempt, retryAt }: NodeStartFailure): Problem {
  const message = `node ${nodeName} could not be started: ${errorText(error)}`;
  const help = 'See what the message names: the options of the node, or the function that makes its provider.';
  return frozenProblem({ kind: 'fleet-node-start', message, since, attempt, retryAt, help });
}

/** A node that has left the fleet, and whose object or Lease stays. */
export function leftNodeProblem(nodeName: string, error: unknown): Problem {
  return apiProblem(`what node ${nodeName} has left could not be deleted`, error, { attempt: 1 });
}
