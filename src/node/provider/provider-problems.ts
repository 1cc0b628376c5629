import { formatTime } from '../../api/json/time.ts';
import type { Pod } from '../../api/json/types.ts';
import { frozenProblem, type PodProblem, type Problem } from '../../base/problem.ts';
import { namesOf } from '../node-problems.ts';
import { helped } from '../problem-help.ts';
import type {
  AnswerFailure,
  DeleteFailure,
  EndBesideChange,
  HeldFailure,
  ProvidedPod,
  ProviderChange,
  ProviderFailure,
  WaitingCall,
} from './provided-pod.ts';

/** A pod's own grace period where nobody says one, in seconds, as the apiserver's default. */
export const defaultGraceSeconds = 30;

/** Another pod of the same name, and the end of an aborted call, are waited for so long before that is worth a problem. */
const longMs = 1000;

/** `getPodStatus() failed: cloud: 500`; words that begin with the call themselves stand alone. */
function failedCall(method: string, words: string): string {
  return words.startsWith(`${method}() `) ? words : `${method}() failed: ${words}`;
}

type CallFailure = Pick<ProviderFailure, 'method' | 'message' | 'attempt' | 'since' | 'isLate'> & Pick<Problem, 'retryAt'>;

/** A call of `createPod` or `updatePod` that failed. */
export function callProblem(failure: CallFailure): Problem {
  const { method, message, attempt, since, retryAt, isLate } = failure;
  return frozenProblem({
    kind: kindOfChange(method),
    message: isLate ? `${message}; it has settled since` : failedCall(method, message),
    attempt,
    since,
    retryAt,
    help: isLate ? heedSignal(method) : 'Mend what the provider names; the call is repeated by itself.',
  });
}

function kindOfChange(method: ProviderChange['method']): string {
  return method === 'createPod' ? 'create-pod' : 'update-pod';
}

function heedSignal(method: ProviderChange['method']): string {
  return `Let ${method} heed its signal, so that it settles once that aborts, and see what it waits for.`;
}

/** A call of `createPod` or `updatePod` that has not settled although its signal has aborted: it takes too long, or the pod is to end. */
export function lateProblem({ pod, failure }: Pick<ProvidedPod, 'pod' | 'failure'>, change: ProviderChange): Problem {
  const { method, since, late = `${method}() has not settled`, lateAt, end } = change;
  const abortedAt = lateAt ?? end?.askedAt ?? since;
  const before = failure?.method === method ? failure : undefined;
  return frozenProblem({
    kind: kindOfChange(method),
    message: `${late}: it was called at ${timeText(since)}, and its signal has aborted at ${timeText(abortedAt)}; ${whatWaits(pod, end)}`,
    attempt: (before?.attempt ?? 0) + 1,
    since: before?.since ?? since,
    retryAt: end?.isDeleteCalled === false ? end.until : undefined,
    help: heedSignal(method),
  });
}

/** What waits for a call that does not settle. */
function whatWaits({ spec }: Pod, end: EndBesideChange | undefined): string {
  if (end?.isDeleteCalled)
    return `deletePod was called all the same, and the end of the pod waits for both until ${timeText(end.until)}`;
  if (end !== undefined)
    return `the deletion of the pod waits for it until ${timeText(end.until)}, then deletePod is called all the same`;
  const seconds = Math.max(1, spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds);
  return `the pod waits for this call, and neither createPod nor updatePod is called for the pod until it settles; a deletion waits for it at most the grace period, ${seconds} s`;
}

/** Whatever a pod gives as its grace period, its time can be written. */
function timeText(ms: number): string {
  return formatTime(Number.isNaN(ms) ? 0 : Math.min(Math.max(0, ms), lastTimeMs));
}

/** The last second of the year 9999. */
const lastTimeMs = 253_402_300_799_000;

/** A call of `deletePod` that failed. */
export function deletionProblem({ cause, attempt, since, retryAt }: DeleteFailure): Problem {
  const help =
    'Free what the provider holds of the pod: it stays on the apiserver until then, and the call is repeated by itself.';
  return frozenProblem({ kind: 'delete-pod', message: failedCall('deletePod', cause), attempt, since, retryAt, help });
}

/** A pod still runs although its grace period is over. */
function lateEndProblem({ message, attempt, since }: NonNullable<ProvidedPod['lateEnd']>): Problem {
  const help =
    'See why deletePod does not end it: what still runs when the grace period is over must be ended, by a run of a ContainerProvider once its `kill` aborts.';
  const words = `${message}, since ${timeText(since)}`;
  return frozenProblem({ kind: 'pod-end', message: words, attempt, since, help });
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

/** The provider has not adopted the pods that an earlier run has begun. */
export function adoptionProblem({
  why,
  attempt,
  since,
  retryAt,
}: Omit<AnswerFailure, 'message'> & { readonly why: string }): Problem {
  const help =
    'See why the provider does not adopt the pods that an earlier run has begun: one that it does not know is neither created again nor counted as ended until then.';
  return frozenProblem({ kind: 'adopt', message: failedCall('adopt', why), attempt, since, retryAt, help });
}

/** The provider has failed at its last call. Nothing repeats it. */
export function releaseProblem(why: string, since: number): Problem {
  const help =
    'See what the provider still holds of the pods of this node, such as locks and watches, and let go of it before another process runs them.';
  return frozenProblem({ kind: 'release', message: failedCall('release', why), attempt: 1, since, help });
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

/** True for a call that goes on although its signal has aborted. */
function isUnheeded({ late, end }: ProviderChange, at: number): boolean {
  return late !== undefined || (end !== undefined && at - end.askedAt >= longMs);
}

function whatIsWrong(record: ProvidedPod, at: number): Problem | undefined {
  const { failure, deleteFailure, lateEnd, answerFailure, held, staleFiles, change, namesake, waiting } = record;
  if (deleteFailure !== undefined) return deletionProblem(deleteFailure);
  if (lateEnd !== undefined) return lateEndProblem(lateEnd);
  if (held !== undefined) return heldProblem(held);
  if (staleFiles !== undefined) return heldProblem(staleFiles);
  if (change?.isBegun && isUnheeded(change, at)) return lateProblem(record, change);
  if (failure !== undefined) return callProblem(failure);
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
