import { frozenProblem, type PodProblem, type Problem } from '../../base/problem.ts';
import { namesOf } from '../node-problems.ts';
import { helped } from '../problem-help.ts';
import type {
  AnswerFailure,
  DeleteFailure,
  HeldFailure,
  ProvidedPod,
  ProviderChange,
  ProviderFailure,
  WaitingCall,
} from './provided-pod.ts';

/** Another pod of the same name is waited for so long before that is worth a problem. */
const longMs = 1000;

/** `getPodStatus() failed: cloud: 500`; words that begin with the call themselves stand alone. */
function failedCall(method: string, words: string): string {
  return words.startsWith(`${method}() `) ? words : `${method}() failed: ${words}`;
}

type CallFailure = Pick<ProviderFailure, 'method' | 'message' | 'attempt' | 'since' | 'isLate'> & Pick<Problem, 'retryAt'>;

/** A call of `createPod` or `updatePod` that failed, or takes too long. */
export function callProblem(failure: CallFailure): Problem {
  const { method, message, attempt, since, retryAt, isLate } = failure;
  return frozenProblem({
    kind: method === 'createPod' ? 'create-pod' : 'update-pod',
    message: failedCall(method, message),
    attempt,
    since,
    retryAt,
    help: isLate
      ? 'See what the provider waits for: its signal was aborted, and it may settle later all the same.'
      : 'Mend what the provider names; the call is repeated by itself.',
  });
}

/** A call of `createPod` or `updatePod` that takes too long. */
export function lateProblem({ method, since }: Pick<ProviderChange, 'method' | 'since'>, message: string): Problem {
  return callProblem({ method, message, attempt: 1, since, isLate: true });
}

/** A call of `deletePod` that failed. */
export function deletionProblem({ cause, attempt, since, retryAt }: DeleteFailure): Problem {
  const help =
    'Free what the provider holds of the pod: it stays on the apiserver until then, and the call is repeated by itself.';
  return frozenProblem({ kind: 'delete-pod', message: failedCall('deletePod', cause), attempt, since, retryAt, help });
}

/** A pod waits for what it refers to. */
export function heldProblem({ kind, message, help, attempt, since, retryAt }: HeldFailure): Problem {
  return frozenProblem({ kind, message, attempt, since, retryAt, ...(help !== undefined && { help }) });
}

/** The provider has given no list of its pods since the start. */
export function unlistedProblem({
  why,
  attempt,
  since,
  retryAt,
}: Omit<AnswerFailure, 'message'> & { readonly why: string }): Problem {
  const help =
    'See why the provider gives no list: what an earlier run of the agent has left is not known, and each pod is asked about.';
  return frozenProblem({ kind: 'get-pods', message: failedCall('getPods', why), attempt, since, retryAt, help });
}

/** A call that waits so long for its turn is worth a problem. */
const longTurnMs = 10_000;

/** A call waits for its turn. */
function turnProblem({ method, since, turns }: WaitingCall): Problem {
  const message = `${method}() waits for its turn: ${turns.underWay} calls of the provider are under way, and ${turns.waiting} wait`;
  const help = 'Raise pods.concurrency or pods.rateLimiter, or see which calls of the provider take long (callsUnderWay).';
  return frozenProblem({ kind: 'waits-for-turn', message, attempt: 0, since, help });
}

const notServedHelp =
  'Mend what the message names, and start the process anew: a node whose API is not served does not register.';

/** The node's API could not be served at the start. */
export interface StartFailure {
  readonly message: string;
  readonly at: number;
  /** True: another process listens on the port. */
  readonly isPortTaken: boolean;
}

/** The node could not start. */
export function notServedProblem({ message, at, isPortTaken }: StartFailure): Problem {
  const { help } = isPortTaken ? helped('port-taken') : { help: notServedHelp };
  return frozenProblem({ kind: 'start', message: `the provider node could not start: ${message}`, since: at, attempt: 1, help });
}

/** What is wrong between the pod and its provider; undefined where all is well. */
export function providedPodProblem(record: ProvidedPod, at: number): PodProblem | undefined {
  if (record.isTerminated) return undefined;
  const found = whatIsWrong(record, at);
  if (found === undefined) return undefined;
  return frozenProblem({ ...found, ...namesOf(record.pod) });
}

function whatIsWrong(record: ProvidedPod, at: number): Problem | undefined {
  const { failure, deleteFailure, answerFailure, held, staleFiles, change, namesake, waiting } = record;
  if (deleteFailure !== undefined) return deletionProblem(deleteFailure);
  if (held !== undefined) return heldProblem(held);
  if (staleFiles !== undefined) return heldProblem(staleFiles);
  if (failure !== undefined) return callProblem(failure);
  if (change?.late !== undefined) return lateProblem(change, change.late);
  if (answerFailure !== undefined) {
    const { message, attempt, since, retryAt } = answerFailure;
    const help = 'See why the provider cannot say how the pod is; the status that was told last stays meanwhile.';
    const words = failedCall('getPodStatus', message);
    return { kind: 'get-pod-status', message: words, attempt, since, retryAt, help };
  }
  if (waiting !== undefined && at - waiting.since >= longTurnMs) return turnProblem(waiting);
  if (namesake === undefined || at - namesake.since < longMs) return undefined;
  return {
    kind: 'name-taken',
    message: `the provider still has the pod with uid ${namesake.podUID} of the same name`,
    attempt: 0,
    since: namesake.since,
    help: 'See why the earlier pod does not end (explain() of its uid says it): this one is created once it has.',
  };
}
