import type { Pod } from '../api/json/types.ts';
import { podUIDOf } from '../api/pod/pod-identity.ts';
import type { Failing } from '../base/failure-run.ts';
import { frozenProblem, type PodProblem, type Problem } from '../base/problem.ts';
import { eventsProblem } from '../client/events/event-failures.ts';
import { answerOf, apiProblem, failureInWords } from '../client/resources/api-problem.ts';
import type { RetriedError } from '../client/resources/error-class.ts';
import type { PodSourceReport } from './config/pod-config.ts';
import { leftOutWords } from './config/pod-storage.ts';
import { rivalProblem } from './node-object/lease-rivals.ts';
import type { NodeObjectReport } from './node-object/node-object.ts';
import type { StepFailure } from './node-object/steady-loop.ts';
import type { PodWorkerReport } from './workers/pod-worker-report.ts';

/** The names of the pod, as a problem has them. */
export function namesOf(pod: Pod): Pick<PodProblem, 'podUID' | 'podNamespace' | 'podName'> {
  const { namespace: podNamespace = '', name: podName = '' } = pod.metadata ?? {};
  return { podUID: podUIDOf(pod), podNamespace, podName };
}

/** What every node knows of itself, whatever runs its pods. */
export interface ObservedNode {
  /** In milliseconds since the epoch. */
  readonly at: number;
  readonly node: Pick<NodeObjectReport, 'registered' | 'rival' | 'nodeFailure' | 'leaseFailure' | 'watchFailure'> & {
    readonly readiness: { readonly ready: boolean; readonly message?: string } | undefined;
  };
  readonly sources: readonly PodSourceReport[];
  /** When an iteration of the sync loop has ended last; undefined before the first, and while the loop does not run. */
  readonly lastIterationAt: number | undefined;
}

/** A pod of which no status was set yet. */
export interface PodWithoutStatus extends Pick<PodProblem, 'podUID' | 'podNamespace' | 'podName'> {
  /** When the node learned of the pod, in milliseconds since the epoch. */
  readonly since: number;
}

/** A sync loop that has ended no iteration for so long is worth a problem: it looks at all pods every two seconds. */
const silentLoopMs = 30_000;

const notReady = 'See why the function `readiness`, or a part that it asks, says no.';

/** What is wrong with the node itself: its object, its Lease, its sources and its loop. Both kinds of nodes say the same of it. */
export function nodeProblems({ at, node, sources, lastIterationAt }: ObservedNode): Problem[] {
  const { registered, readiness, rival, nodeFailure, leaseFailure } = node;
  const problems: Problem[] = [];
  if (!registered) problems.push(stepProblem('the node object is not registered', 'not-registered', nodeFailure));
  else if (nodeFailure !== undefined)
    problems.push(stepProblem('the node object could not be kept in step', 'node', nodeFailure));
  if (leaseFailure !== undefined && registered)
    problems.push(stepProblem('the Lease of the node could not be renewed', 'lease', leaseFailure));
  if (registered) problems.push(...watchProblems(node, sources));
  if (rival !== undefined) problems.push(rivalProblem(rival));
  if (registered && readiness?.ready !== true) {
    const message = `the node is not ready: ${readiness?.message ?? 'it was not asked yet'}`;
    problems.push(frozenProblem({ kind: 'not-ready', message, attempt: 0, help: notReady }));
  }
  problems.push(...sources.flatMap(sourceProblems));
  const silentMs = lastIterationAt === undefined ? 0 : at - lastIterationAt;
  if (silentMs >= silentLoopMs) {
    const message = `the sync loop has ended no iteration for ${Math.floor(silentMs / 1000)} s`;
    const help = 'See what holds the event loop, or which injected function does not return.';
    problems.push(frozenProblem({ kind: 'silent-loop', message, attempt: 0, since: lastIterationAt, help }));
  }
  return problems;
}

/** A failure of the node object or of its Lease. Without one there was no answer yet: `kind` stands for it. */
function stepProblem(what: string, kind: string, failure: StepFailure | undefined): Problem {
  if (failure === undefined) return frozenProblem({ kind, message: what, attempt: 0 });
  const { error, attempt, at, retryInMs } = failure;
  return apiProblem(what, error, { attempt, since: failure.since, retryAt: at + retryInMs });
}

/** A node that cannot be watched. Whoever gets no answer says so once; a right that is missing is missing beside others. */
function watchProblems(
  { nodeFailure, leaseFailure, watchFailure }: ObservedNode['node'],
  sources: readonly Pick<PodSourceReport, 'lastError'>[],
): Problem[] {
  if (watchFailure === undefined) return [];
  const problem = stepProblem('the node cannot be watched, and is read before each write', 'watch', watchFailure);
  const told = [nodeFailure, leaseFailure].map((one) => one && failureInWords(one.error).kind);
  const isTold = [...told, ...sources.map(({ lastError }) => lastError?.kind)].includes(problem.kind);
  return isTold && problem.kind !== 'forbidden' ? [] : [problem];
}

/** The pods that are left out of the last list of a source. */
export function leftOutProblems({ name, leftOut }: Pick<PodSourceReport, 'name' | 'leftOut'>): PodProblem[] {
  return leftOut.map(({ same, ...pod }) => {
    const message = `the source "${name}" has two pods with one ${same}, and this one is left out`;
    return frozenProblem({ ...pod, ...leftOutWords, message, attempt: 0 });
  });
}

/** Events that the apiserver refuses, or that do not get there. */
export function eventsProblems(failing: Failing | undefined): Problem[] {
  return failing === undefined ? [] : [eventsProblem(failing)];
}

/** What is wrong with one source of pods, and with the pods that are left out of its list. */
export function sourceProblems(
  source: Pick<PodSourceReport, 'name' | 'hasSent' | 'isWaiting' | 'lastError' | 'leftOut'>,
): Problem[] {
  const { name, hasSent, isWaiting, lastError } = source;
  const problems: Problem[] = leftOutProblems(source);
  if (!hasSent) problems.push(sourceProblem(`the source "${name}" has not sent its pods`, 'source-silent', lastError));
  else if (lastError !== undefined) problems.push(sourceProblem(`the source "${name}" cannot be read`, 'source', lastError));
  if (isWaiting) {
    const message = `the newest list of the source "${name}" waits until the sync loop has taken earlier ones`;
    problems.push(frozenProblem({ kind: 'source-waits', message, attempt: 0 }));
  }
  return problems;
}

function sourceProblem(what: string, kind: string, error: RetriedError | undefined): Problem {
  if (error === undefined) return frozenProblem({ kind, message: what, attempt: 0, help: 'See why the source sends no list.' });
  const { message, attempt, since, retryAt, help } = error;
  return frozenProblem({ kind: error.kind, message: `${what}: ${answerOf(message)}`, attempt, since, retryAt, help });
}

/** The problem that the last call for a pod failed with; undefined where it did not fail. */
export function workerProblem(
  pod: Pick<PodProblem, 'podUID' | 'podNamespace' | 'podName'>,
  worker: Pick<PodWorkerReport, 'failure' | 'state'> | undefined,
): PodProblem | undefined {
  if (worker?.failure === undefined) return undefined;
  const { message, attempt, since, retryAt } = worker.failure;
  const what = worker.state === 'sync' ? 'the pod could not be synced' : 'the pod could not be ended';
  return frozenProblem({ ...pod, kind: 'sync', message: `${what}: ${message}`, attempt, since, retryAt });
}
