import { apiserverSource } from '../../api/pod/pod-identity.ts';
import type { AwaitedStart } from '../../base/concurrency/run-state.ts';
import type { RetriedError } from '../../client/resources/error-class.ts';
import type { PodSourceReport } from '../config/pod-source-report.ts';
import type { NodeObject } from '../node-object/node-object.ts';
import type { HandledSource } from '../sources/handled-source.ts';
import type { ProvidedPod } from './provided-pod.ts';
import type { ProviderNodeSnapshot } from './provider-node-reports.ts';

/** What the notes are made of. */
export interface NodeFacts extends Omit<ProviderNodeSnapshot, 'notes' | 'pods'> {
  /** Why the provider gave no list of its pods at the start. */
  readonly listFailure: string | undefined;
}

/** A sync loop that has ended no iteration for so long is worth a note: it looks at all pods every two seconds. */
const silentLoopMs = 30_000;

/** Another agent that was noticed longer ago may have gone. */
const freshRivalMs = 300_000;

/** In words: what the node waits for, and what failed last. Each is one sentence without a full stop. */
export function nodeNotes(facts: NodeFacts, pods: Iterable<ProvidedPod>): string[] {
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
function startNotes({ registered, node, loop, sources }: Pick<NodeFacts, 'registered' | 'node' | 'loop' | 'sources'>) {
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
  snapshot: Omit<NodeFacts, 'listFailure'>,
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
function laterNotes({ at, registered, ready, node, lease, sources, loop, workers }: NodeFacts): string[] {
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
