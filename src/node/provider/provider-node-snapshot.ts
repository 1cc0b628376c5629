import type { Pod } from '../../api/json/types.ts';
import { apiserverSource, podSourceOf, podUIDOf } from '../../api/pod/pod-identity.ts';
import type { AwaitedStart, RunStateName } from '../../base/concurrency/run-state.ts';
import { type RetriedError, retriedError } from '../../client/resources/error-class.ts';
import type { PodSourceReport } from '../config/pod-config.ts';
import type { NodeObject } from '../node-object/node-object.ts';
import type { StepFailure } from '../node-object/steady-loop.ts';
import type { HandledSource } from '../sources/api-server-source.ts';
import type { ProvidedPod } from './provided-pod.ts';
import type { ProviderAgent } from './provider-agent.ts';
import type { ProviderNodeSnapshot, ProviderPodReport } from './provider-node-reports.ts';

/** What the node itself knows. */
interface OwnFacts {
  readonly state: RunStateName;
  /** Why the provider gave no list of its pods at the start. */
  readonly listFailure: string | undefined;
}

/** `withPods`: every pod that the agent or the provider has is in it, too. */
export function nodeSnapshot(agent: ProviderAgent, own: OwnFacts, withPods: boolean): ProviderNodeSnapshot {
  const { options, nodeObject, podWorkers, podSyncer, config, loop } = agent;
  const { state, listFailure } = own;
  const report = nodeObject.explain();
  const { uid, readiness, rival, registered, lastReportAt, lastRenewAt } = report;
  const shown = {
    at: options.clock.now(),
    state,
    nodeName: options.given.nodeName,
    registered,
    ready: registered && readiness?.ready === true,
    node: { uid, readiness, rival, lastReportAt, lastError: inWords(report.nodeFailure) },
    lease: { lastRenewAt, lastError: inWords(report.leaseFailure) },
    sources: config.explain(),
    loop: { state: loop.state, sourcesReady: loop.sourcesReady(), lastIterationAt: loop.lastIterationAt() },
    workQueue: { size: podWorkers.workQueue.size },
    workers: podWorkers.snapshot(),
  };
  const notes = nodeNotes({ ...shown, listFailure }, podSyncer.pods.all());
  return { ...shown, notes, pods: withPods ? podReports(agent) : [] };
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
    askedAt: record?.isAsked ? record.askedAt : undefined,
    change: record?.change?.method,
    changeSince: record?.change?.since,
    failure: failureOf(record),
    deleteFailure: deleteFailureOf(record),
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
  if (record?.failure === undefined) return undefined;
  const { method, message, attempts, retryAt } = record.failure;
  return { method, message, attempts, retryAt };
}

function deleteFailureOf(record: ProvidedPod | undefined): ProviderPodReport['deleteFailure'] {
  if (record?.deleteFailure === undefined) return undefined;
  const { message, attempts, retryAt } = record.deleteFailure;
  return { message, attempts, retryAt };
}

function inWords(failure: StepFailure | undefined): RetriedError | undefined {
  return failure && retriedError({ ...failure, retryAt: failure.at + failure.retryInMs });
}

/** What the notes are made of. */
export interface ProviderNodeFacts extends Omit<ProviderNodeSnapshot, 'notes' | 'pods'> {
  /** Why the provider gave no list of its pods at the start. */
  readonly listFailure: string | undefined;
}

/** A sync loop that has ended no iteration for so long is worth a note: it looks at all pods every two seconds. */
const silentLoopMs = 30_000;

/** Another agent that was noticed longer ago may have gone. */
const freshRivalMs = 300_000;

/** In words: what the node waits for, and what failed last. Each is one sentence without a full stop. */
function nodeNotes(facts: ProviderNodeFacts, pods: Iterable<ProvidedPod>): string[] {
  if (facts.state === 'idle') return ['the node was not started'];
  if (facts.state !== 'running') return [facts.state === 'stopped' ? 'the node has stopped' : 'the node is stopping'];
  return [
    ...startNotes(facts),
    ...laterNotes(facts),
    ...(facts.listFailure === undefined ? [] : [`the provider gave no list of its pods: ${facts.listFailure}`]),
    ...failedCalls(pods),
  ];
}

/** What a start waits for: the node on the apiserver, and the first list of its pods. */
function startNotes({ registered, node, loop, sources }: Pick<ProviderNodeFacts, 'registered' | 'node' | 'loop' | 'sources'>) {
  const notes: string[] = [];
  if (!registered) notes.push(`the node object is not registered${because(node.lastError)}`);
  if (loop.state === 'idle') notes.push('the provider has not answered getPods() yet');
  else
    for (const source of sources)
      if (!source.hasSent) notes.push(`${nameOf(source)} has not sent its pods${because(source.lastError)}`);
  return notes;
}

/** What a start of the node that takes too long waits for. Its cause: why the node is not registered, or its pods are not listed. */
export function awaitedByNode(
  snapshot: Omit<ProviderNodeFacts, 'listFailure'>,
  nodeObject: Pick<NodeObject, 'explain'>,
  source: Pick<HandledSource, 'failure'>,
): AwaitedStart {
  const cause = nodeObject.explain().nodeFailure?.error ?? source.failure();
  // only the apiserver's pods are waited for
  const sources = snapshot.sources.filter(({ name }) => name === apiserverSource);
  const notes = startNotes({ ...snapshot, sources });
  return { text: notes.length === 0 ? 'the pods of the apiserver are not handled' : notes.join('; '), cause };
}

/** What has gone wrong in a node that had started. */
function laterNotes({ at, registered, ready, node, lease, sources, loop, workers }: ProviderNodeFacts): string[] {
  const notes: string[] = [];
  const note = (isSo: boolean, text: () => string): void => void (isSo && notes.push(text()));
  note(registered && node.lastError !== undefined, () => `the node object could not be kept in step${because(node.lastError)}`);
  note(
    registered && lease.lastError !== undefined,
    () => `the Lease of the node could not be renewed${because(lease.lastError)}`,
  );
  note(
    at - (node.rival?.seenAt ?? Number.NEGATIVE_INFINITY) < freshRivalMs,
    () => `another agent, ${node.rival?.holderIdentity}, renews the Lease of this node`,
  );
  note(registered && !ready, () => `the node is not ready: ${node.readiness?.message ?? 'it was not asked yet'}`);
  for (const source of sources) {
    note(source.hasSent && source.lastError !== undefined, () => `${nameOf(source)} cannot be read${because(source.lastError)}`);
    note(source.isWaiting, () => `the newest list of ${nameOf(source)} waits until the sync loop has taken earlier ones`);
  }
  const isHandling = loop.state === 'running' && loop.lastIterationAt !== undefined;
  const silentMs = isHandling ? at - (loop.lastIterationAt ?? at) : 0;
  note(silentMs >= silentLoopMs, () => `the sync loop has ended no iteration for ${Math.floor(silentMs / 1000)} s`);
  note(workers.failing > 0, () => `the last sync of ${count(workers.failing, 'pod')} failed`);
  return notes;
}

/** The calls of the provider that failed: how many pods, and one of them. */
function failedCalls(pods: Iterable<ProvidedPod>): string[] {
  let failed = 0;
  let example: string | undefined;
  for (const { pod, failure, deleteFailure, isTerminated } of pods) {
    if (isTerminated || (failure === undefined && deleteFailure === undefined)) continue;
    failed += 1;
    const { namespace = '', name = '' } = pod.metadata ?? {};
    example ??= `${deleteFailure === undefined ? failure?.method : 'deletePod'}() of ${namespace}/${name}: ${(deleteFailure ?? failure)?.message}`;
  }
  return example === undefined ? [] : [`calls of the provider failed for ${count(failed, 'pod')}, such as ${example}`];
}

function nameOf({ name }: PodSourceReport): string {
  return `the source "${name}"`;
}

function because(error: RetriedError | undefined): string {
  return error === undefined ? '' : `: ${error.message}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
