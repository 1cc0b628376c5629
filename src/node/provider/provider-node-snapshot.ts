import type { Pod } from '../../api/json/types.ts';
import { apiserverSource, podSourceOf, podUIDOf } from '../../api/pod/pod-identity.ts';
import type { AwaitedStart, RunStateName } from '../../base/concurrency/run-state.ts';
import { notRunning, type PodProblem, type Problem, problemReport } from '../../base/problem.ts';
import { retriedError } from '../../client/resources/api-problem.ts';
import type { RetriedError } from '../../client/resources/error-class.ts';
import type { StepFailure } from '../node-object/steady-loop.ts';
import {
  eventsProblems,
  namesOf,
  nodeProblems,
  type ObservedNode,
  type PodWithoutStatus,
  workerProblem,
} from '../node-problems.ts';
import type { ProvidedPod } from './provided-pod.ts';
import type { ProviderAgent } from './provider-agent.ts';
import type { PodCallReport, ProviderFailureReport, ProviderNodeSnapshot, ProviderPodReport } from './provider-node-reports.ts';
import { notServedProblem, providedPodProblem, type StartFailure } from './provider-problems.ts';

/** What the node itself knows. */
export interface OwnFacts {
  readonly state: RunStateName;
  /** Why the provider has given no list of its pods since the start. */
  readonly listProblem: Problem | undefined;
  /** Why its API is not served. */
  readonly startFailure: StartFailure | undefined;
}

/** `withPods`: every pod that the agent or the provider has is in it, too. */
export function nodeSnapshot(agent: ProviderAgent, own: OwnFacts, withPods: boolean): ProviderNodeSnapshot {
  const { options, nodeObject, podWorkers, config, loop } = agent;
  const [report, sources] = [nodeObject.explain(), config.explain()];
  const { uid, readiness, rival, registered, lastReportAt, lastRenewAt } = report;
  const at = options.clock.now();
  return {
    at,
    state: own.state,
    nodeName: options.given.nodeName,
    registered,
    // a node that is taken over stays ready for the cluster while its pods are listed
    ready: registered && readiness?.ready === true && loop.sourcesReady(),
    node: { uid, readiness, rival, lastReportAt, lastError: inWords(report.nodeFailure) },
    lease: { lastRenewAt, lastError: inWords(report.leaseFailure) },
    sources,
    loop: { state: loop.state, sourcesReady: loop.sourcesReady(), lastIterationAt: loop.lastIterationAt() },
    workQueue: { size: podWorkers.workQueue.size },
    workers: podWorkers.snapshot(),
    ...problemReport(allProblems(agent, own, { at, node: report, sources }), at),
    podsWithoutStatus: podsWithoutStatus(agent),
    callsUnderWay: callsUnderWay(agent, at),
    callsWaiting: callsWaiting(agent),
    releasingSince: agent.handOver.releasingSince,
    pods: withPods ? podReports(agent) : [],
  };
}

/** What a snapshot has asked the parts already. */
type Asked = Pick<ObservedNode, 'at' | 'node' | 'sources'>;

/** Of the node, then of its pods: what the provider, the workers and the status manager know. */
function allProblems(
  agent: ProviderAgent,
  { state, listProblem, startFailure }: OwnFacts,
  asked: Asked,
): (Problem | PodProblem)[] {
  if (state !== 'running') {
    const { releaseProblem } = agent.handOver;
    return [notRunning('the node', state), ...(releaseProblem === undefined ? [] : [releaseProblem])];
  }
  if (startFailure !== undefined) return [notServedProblem(startFailure)];
  return [...ownProblems(agent, listProblem, asked), ...podProblems(agent, asked.at)];
}

const unlisted: Problem = { kind: 'get-pods', message: 'the provider has not answered getPods() yet', attempt: 0 };
const unadopted: Problem = { kind: 'adopt', message: 'the provider has not answered adopt() yet', attempt: 0 };

/** True once the sources have begun: before that nothing is missing of them. */
function hasSources({ loop, config }: ProviderAgent): boolean {
  return loop.state !== 'idle' || config.state !== 'idle';
}

/** What the node waits for before it syncs any pod; undefined where that is the apiserver, and once it has begun. */
function awaitedOfProvider({ loop, handOver }: ProviderAgent): Problem | undefined {
  if (loop.state !== 'idle' || handOver.awaitsList) return undefined;
  return handOver.isAwaited ? unadopted : unlisted;
}

function ownProblems(agent: ProviderAgent, listProblem: Problem | undefined, asked: Asked): Problem[] {
  const { loop, handOver } = agent;
  const lastIterationAt = loop.state === 'running' ? loop.lastIterationAt() : undefined;
  const problems = nodeProblems({ ...asked, sources: hasSources(agent) ? asked.sources : [], lastIterationAt });
  problems.push(...eventsProblems(agent.eventsFailing()));
  problems.push(...(agent.api?.problems() ?? []));
  const awaited = awaitedOfProvider(agent);
  if (awaited !== undefined && handOver.problem === undefined) problems.push(awaited);
  if (handOver.problem !== undefined) problems.push(handOver.problem);
  if (listProblem !== undefined) problems.push(listProblem);
  return problems;
}

function podProblems(agent: ProviderAgent, at: number): PodProblem[] {
  const { podSyncer, podWorkers, statusManager, loop } = agent;
  const problems = new Map<string, PodProblem>();
  for (const record of podSyncer.pods.all()) {
    const found = providedPodProblem(record, at);
    if (found !== undefined) problems.set(record.uid, found);
  }
  for (const { uid, name, namespace, ...worker } of podWorkers.failing()) {
    if (problems.has(uid)) continue;
    const found = workerProblem({ podUID: uid, podName: name, podNamespace: namespace }, worker);
    if (found !== undefined) problems.set(uid, found);
  }
  for (const found of loop.problems()) if (!problems.has(found.podUID)) problems.set(found.podUID, found);
  // a status that is not written is a problem of its own; one that only repeats what the provider said is none
  const ofStatuses = statusManager.problems();
  return [...problems.values(), ...ofStatuses.filter((one) => !(problems.has(one.podUID) && repeatsProvider(one)))];
}

/** Of statuses that this node itself has made, of what the provider failed at, or of what the pod lacks. */
const ownStatuses: readonly string[] = ['provider-create-failed', 'create-container-config-error'];

/** True for a problem that was made from such a status. */
function repeatsProvider({ kind }: PodProblem): boolean {
  return ownStatuses.includes(kind);
}

/** The problem that tells most of one pod. */
export function podProblem(
  { podSyncer, podWorkers, statusManager, loop, options }: ProviderAgent,
  podUID: string,
): PodProblem | undefined {
  const record = podSyncer.pods.find(podUID);
  const { name: podName = '', namespace: podNamespace = '' } = record?.pod.metadata ?? {};
  const ofProvider = record && providedPodProblem(record, options.clock.now());
  const ofWorker = (): PodProblem | undefined => workerProblem({ podUID, podNamespace, podName }, podWorkers.explain(podUID));
  return ofProvider ?? ofWorker() ?? loop.problemOf(podUID) ?? statusManager.explain(podUID).problem;
}

/** So many pods without a status are listed, and so many calls. */
const mostListed = 1000;
/** A call that has been under way for so long is worth a word. */
const longMs = 1000;

function podsWithoutStatus({ podSyncer }: ProviderAgent): PodWithoutStatus[] {
  const untold = [...podSyncer.pods.all()].filter(({ isTold, isTerminated }) => !isTold && !isTerminated);
  return untold.slice(0, mostListed).map(({ pod, since }) => ({ ...namesOf(pod), since }));
}

function callsUnderWay({ podSyncer }: ProviderAgent, at: number): PodCallReport[] {
  const calls: PodCallReport[] = [];
  for (const { pod, underWay } of podSyncer.pods.all()) {
    if (underWay === undefined || at - underWay.since < longMs) continue;
    calls.push({ ...namesOf(pod), ...underWay });
    if (calls.length === mostListed) break;
  }
  return calls;
}

function callsWaiting({ podSyncer }: ProviderAgent): number {
  let count = 0;
  for (const { waits } of podSyncer.pods.all()) count += waits.size;
  return count;
}

/** What the parts know of one pod; `podUID` is the static pod's where there is a mirror pod. */
export function podReport({ podManager, podWorkers, podSyncer }: ProviderAgent, podUID: string): ProviderPodReport {
  const pod = podManager.getPodByUID(podUID);
  const record = podSyncer.pods.find(podUID);
  const { name = '', namespace = '' } = (pod ?? record?.pod)?.metadata ?? {};
  return {
    podUID,
    namespace,
    name,
    source: pod && sourceOf(pod),
    worker: podWorkers.explain(podUID),
    nextSyncAt: podWorkers.workQueue.dueAt(podUID),
    couldRun: podWorkers.couldHaveRunningContainers(podUID),
    isTerminationRequested: podWorkers.isPodTerminationRequested(podUID),
    isHeld: record?.isHeld ?? false,
    askedAt: record !== undefined && Number.isFinite(record.askedAt) ? record.askedAt : undefined,
    underWay: record?.underWay,
    waitsForTurn: record?.waiting && { method: record.waiting.method, since: record.waiting.since },
    change: record?.change?.method,
    changeSince: record?.change?.since,
    failure: failureOf(record),
    deleteFailure: record?.deleteFailure && failureReport(record.deleteFailure),
    answerFailure: record?.answerFailure && failureReport(record.answerFailure),
  };
}

function podReports(agent: ProviderAgent): ProviderPodReport[] {
  const uids = new Set(agent.podManager.getPods().map(podUIDOf));
  for (const { uid } of agent.podSyncer.pods.all()) uids.add(uid);
  return Array.from(uids, (uid) => podReport(agent, uid));
}

function sourceOf(pod: Pod): string {
  return podSourceOf(pod) ?? apiserverSource;
}

function failureOf(record: ProvidedPod | undefined): ProviderPodReport['failure'] {
  return record?.failure && { method: record.failure.method, ...failureReport(record.failure) };
}

function failureReport({ message, attempt, since, retryAt }: ProviderFailureReport): ProviderFailureReport {
  return { message, attempt, since, retryAt };
}

function inWords(failure: StepFailure | undefined): RetriedError | undefined {
  return failure && retriedError({ ...failure, retryAt: failure.at + failure.retryInMs });
}

/** What a start of the node that takes too long waits for. Its cause: why the node is not registered, or its pods are not listed. */
export function awaitedByNode(agent: ProviderAgent): AwaitedStart {
  const { nodeObject, source, config, options } = agent;
  const { registered, nodeFailure } = nodeObject.explain();
  const cause = nodeFailure?.error ?? source.failure();
  // only the apiserver's pods are waited for
  const sources = config.explain().filter(({ name }) => name === apiserverSource);
  const waited = {
    registered,
    nodeFailure,
    readiness: { ready: true },
    rival: undefined,
    leaseFailure: undefined,
    watchFailure: undefined,
  };
  const facts = {
    at: options.clock.now(),
    node: waited,
    sources: hasSources(agent) ? sources.filter(({ hasSent }) => !hasSent) : [],
    lastIterationAt: undefined,
  };
  const notes = nodeProblems(facts).map(({ message }) => message);
  const awaited = awaitedOfProvider(agent);
  if (awaited !== undefined) notes.push(awaited.message);
  return { text: notes.length === 0 ? 'the pods of the apiserver are not handled' : notes.join('; '), cause };
}
