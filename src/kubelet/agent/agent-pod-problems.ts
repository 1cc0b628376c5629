import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { frozenProblem, type PodProblem, type Problem } from '../../base/problem.ts';
import { configSeenAnnotationKey } from '../../node/config/pod-changes.ts';
import { namesOf } from '../../node/node-problems.ts';
import type { ProbeFailure } from '../../node/probes/probe-types.ts';
import { helped } from '../../node/problem-help.ts';
import type { PodWorkerReport } from '../../node/workers/pod-worker-report.ts';
import type { RuntimeTrouble } from '../machine/runtime-watch.ts';
import { isTriedAgain, rankOf, rankOfProbes } from '../pods/pod-troubles.ts';
import type { MainKubelet } from './main-kubelet.ts';

/** The parts that know of a pod what is wrong with it. */
type ProblemParts = Pick<
  MainKubelet,
  'options' | 'podSyncer' | 'podWorkers' | 'probeManager' | 'statusManager' | 'node' | 'loop'
>;

type Names = Pick<PodProblem, 'podUID' | 'podNamespace' | 'podName'>;

/** A call of the syncer that takes so long is worth a problem: an image may be large, or the runtime hangs. */
const slowCallMs = 120_000;
/** A pod whose call has taken so long waits for the runtime, where that is away. */
const shortCallMs = 1000;

/**
 * What is wrong with one pod, the most telling first: what could not be made or started, probes that fail, containers that end again and
 * again, calls that fail or hang, and last what the status manager knows. Empty when all is well.
 */
export function problemsOfPod(parts: ProblemParts, names: Names, ofStatus: PodProblem | undefined): readonly PodProblem[] {
  const { options, podSyncer, podWorkers, probeManager, node, loop } = parts;
  const { podUID } = names;
  const now = options.clock.now();
  const worker = podWorkers.explain(podUID);
  // while a call is under way, what is due may be what led to it
  const nextSyncAt = worker?.call === undefined ? podWorkers.workQueue.dueAt(podUID) : undefined;
  const runtime = node.runtimeWatch.trouble();
  const troubles = Array.from(podSyncer.troubles.of(podUID), ([part, trouble]) => ({
    rank: rankOf(part, trouble),
    trouble: isTriedAgain(part) ? withRetry(trouble, trouble.kind === 'runtime-down' ? runtime?.retryAt : nextSyncAt) : trouble,
  }));
  const probes = probeManager.failures(podUID).map((failure) => ({ rank: rankOfProbes, trouble: probeProblem(failure) }));
  const found: Problem[] = [...troubles, ...probes]
    .sort((one, other) => one.rank - other.rank || (one.trouble.since ?? now) - (other.trouble.since ?? now))
    .map(({ trouble }) => trouble);
  const facts = { now, nextSyncAt, isTold: troubles.length > 0, runtime, seenAt: seenAt(options.podManager.getPodByUID(podUID)) };
  if (worker !== undefined) found.push(...workerProblems(worker, facts));
  const admission = loop.problemOf(podUID);
  if (admission !== undefined) found.push(admission);
  // a container that waits says in other words what is told already
  if (ofStatus !== undefined && (troubles.length === 0 || !ofStatus.message.startsWith('the container '))) found.push(ofStatus);
  return found.map((problem) => frozenProblem({ ...problem, ...names }));
}

/** The problems of all pods. Of each pod the one that tells most comes first. */
export function problemsOfPods(parts: ProblemParts): PodProblem[] {
  const pods = new Map<string, Names>();
  for (const names of parts.podSyncer.troubles.pods()) pods.set(names.podUID, names);
  for (const pod of parts.options.podManager.getPods()) pods.set(podUIDOf(pod), namesOf(pod));
  const ofStatuses = new Map<string, PodProblem>();
  for (const problem of parts.statusManager.problems()) {
    ofStatuses.set(problem.podUID, problem);
    if (!pods.has(problem.podUID)) pods.set(problem.podUID, problem);
  }
  return Array.from(pods.values()).flatMap(({ podUID, podNamespace, podName }) =>
    problemsOfPod(parts, { podUID, podNamespace, podName }, ofStatuses.get(podUID)),
  );
}

/** When the agent has first heard of the pod, in milliseconds since the epoch. */
export function seenAt(pod: Pod | undefined): number | undefined {
  const seen = Date.parse(pod?.metadata?.annotations?.[configSeenAnnotationKey] ?? '');
  return Number.isFinite(seen) ? seen : undefined;
}

/** What is tried with the next sync is not tried before it. */
function withRetry(problem: Problem, nextSyncAt: number | undefined): Problem {
  if (nextSyncAt === undefined) return problem;
  return { ...problem, retryAt: Math.max(problem.retryAt ?? nextSyncAt, nextSyncAt) };
}

function probeProblem({ type, containerName, message, since, attempt, retryAt }: ProbeFailure): Problem {
  const says = message === '' ? '' : `: ${message}`;
  const text = `the ${type} probe of the container ${containerName} failed${says}`;
  return { ...helped(`${type}-probe`), message: text, since, attempt, retryAt };
}

interface WorkerFacts {
  readonly now: number;
  readonly nextSyncAt: number | undefined;
  /** True: the syncer has told what it could not do. */
  readonly isTold: boolean;
  readonly runtime: RuntimeTrouble | undefined;
  /** When the agent has first heard of the pod. */
  readonly seenAt: number | undefined;
}

function workerProblems(
  { call, callSince, failure, isStarted, waiting }: PodWorkerReport,
  { now, nextSyncAt: retryAt, isTold, runtime, seenAt: since }: WorkerFacts,
): Problem[] {
  if (!isStarted && call === undefined && waiting !== undefined && retryAt !== undefined) {
    return [{ ...helped('waits-for-namesake'), message: namesakeText, since, attempt: 0, retryAt }];
  }
  const callMs = callSince === undefined ? 0 : now - callSince;
  if (runtime !== undefined && call !== undefined && callMs >= shortCallMs) {
    const { message, attempt } = runtime;
    const text = `the pod waits for the container runtime: ${message}`;
    return [{ ...helped('runtime-down'), message: text, since: callSince, attempt, retryAt: runtime.retryAt }];
  }
  if (call !== undefined && callMs >= slowCallMs) {
    return [{ ...helped('slow-call'), message: `${call}() of the pod has not ended`, since: callSince, attempt: 0 }];
  }
  if (failure === undefined || isTold) return [];
  return [{ ...helped('sync'), message: `the pod could not be synced: ${failure.message}`, ...timesOf(failure) }];
}

function timesOf({ attempt, since, retryAt }: NonNullable<PodWorkerReport['failure']>): Omit<Problem, 'kind' | 'message'> {
  return { attempt, since, retryAt };
}

const namesakeText = 'the static pod waits until an earlier one of its name has ended';
