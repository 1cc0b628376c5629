import type { Pod } from '../../api/json/types.ts';
import { apiserverSource, podSourceOf } from '../../api/pod/pod-identity.ts';
import type { Clock } from '../../base/clock.ts';
import type { RunStateName } from '../../base/concurrency/run-state.ts';
import { type RetriedError, retriedError } from '../../client/resources/error-class.ts';
import type { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import type { PodConfig } from '../config/pod-config.ts';
import type { NodeObject } from '../node-object/node-object.ts';
import type { StepFailure } from '../node-object/steady-loop.ts';
import type { PodWorkers } from '../workers/pod-workers.ts';
import type { SyncLoop } from '../workers/sync-loop.ts';
import type { ProvidedPod } from './provided-pod.ts';
import type { ProvidedPods } from './provided-pods.ts';
import { nodeNotes } from './provider-node-notes.ts';
import type { ProviderNodeSnapshot, ProviderPodReport } from './provider-node-reports.ts';

/** The parts of a provider node, as far as they are asked what they know. */
export interface NodeParts {
  readonly nodeName: string;
  readonly podManager: BasicPodManager;
  readonly podWorkers: PodWorkers;
  readonly nodeObject: NodeObject;
  readonly config: PodConfig;
  readonly loop: SyncLoop;
  readonly pods: ProvidedPods;
  readonly clock: Clock;
}

/** The parts, and what the node itself knows. */
export interface NodeToShow extends NodeParts {
  readonly state: RunStateName;
  /** Why the provider gave no list of its pods at the start. */
  readonly listFailure: string | undefined;
}

/** `withPods`: every pod that the agent or the provider has is in it, too. */
export function nodeSnapshot(node: NodeToShow, withPods: boolean): ProviderNodeSnapshot {
  const { nodeName, state, nodeObject, podWorkers, config, loop, clock } = node;
  const report = nodeObject.explain();
  const { uid, readiness, rival, registered, lastReportAt, lastRenewAt } = report;
  const shown = {
    at: clock.now(),
    state,
    nodeName,
    registered,
    ready: registered && readiness?.ready === true,
    node: { uid, readiness, rival, lastReportAt, lastError: inWords(report.nodeFailure) },
    lease: { lastRenewAt, lastError: inWords(report.leaseFailure) },
    sources: config.explain(),
    loop: { state: loop.state, sourcesReady: loop.sourcesReady(), lastIterationAt: loop.lastIterationAt() },
    workQueue: { size: podWorkers.workQueue.size },
    workers: podWorkers.snapshot(),
  };
  const notes = nodeNotes({ ...shown, listFailure: node.listFailure }, node.pods.all());
  return { ...shown, notes, pods: withPods ? podReports(node) : [] };
}

/** What the parts know of one pod; `podUID` is the static pod's where there is a mirror pod. */
export function podReport({ podManager, podWorkers, pods }: NodeParts, podUID: string): ProviderPodReport {
  const pod = podManager.getPodByUID(podUID);
  const record = pods.find(podUID);
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

function podReports(node: NodeToShow): ProviderPodReport[] {
  const uids = new Set(node.podManager.getPods().map(({ metadata }) => metadata?.uid ?? ''));
  for (const { uid } of node.pods.all()) uids.add(uid);
  return Array.from(uids, (uid) => podReport(node, uid));
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
