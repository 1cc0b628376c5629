import type { RunStateName } from '../../base/concurrency/run-state.ts';
import type { PodProblem, ProblemReport } from '../../base/problem.ts';
import type { RetriedError } from '../../client/resources/error-class.ts';
import type { PodExplanation } from '../../status/sync/explain.ts';
import type { StopResult } from '../../status/sync/status-sync.ts';
import type { PodSourceReport } from '../config/pod-config.ts';
import type { NodeObjectReport } from '../node-object/node-object.ts';
import type { NodeObjectStopped } from '../node-object/node-removal.ts';
import type { PodWithoutStatus } from '../node-problems.ts';
import type { PodWorkerReport, PodWorkersReport } from '../workers/pod-worker-report.ts';
import type { StoppedWorkers } from '../workers/pod-workers.ts';
import type { ProviderCallReport } from './provided-pod.ts';

/** How long a stop, and the parts of it, may take. */
export interface StopProviderNodeOptions {
  /** How long the whole stop may take, in milliseconds. Default 20 000: Kubernetes kills an agent after 30 seconds. */
  readonly timeoutMs?: number;
  /** How long the status manager may write what is left, in milliseconds. Default 10 000. */
  readonly drainTimeoutMs?: number;
  /** How long calls of the provider may go on that do not heed their signal, in milliseconds. Default 5000. */
  readonly callsTimeoutMs?: number;
}

/** What a stop has left behind. */
export interface StoppedProviderNode {
  /** What could not be written. */
  readonly statuses: StopResult;
  /** The pods whose sync had not settled. A sync gives its calls of the provider up when the node stops: see `calls`. */
  readonly workers: StoppedWorkers;
  /** The calls of the provider for pods that go on although their signal has aborted: at most 1000, the oldest first. */
  readonly calls: readonly PodCallReport[];
  /** What became of the Node and its Lease. */
  readonly node: NodeObjectStopped;
}

/** A call of the provider that has failed and is made again. */
export interface ProviderFailureReport {
  /** When the first of the failures in a row was, in milliseconds since the epoch. */
  readonly since: number;
  /** What the call threw or was rejected with, in words. */
  readonly message: string;
  /** How many calls in a row have failed. */
  readonly attempt: number;
  /** When it is made again at the soonest, in milliseconds since the epoch. */
  readonly retryAt: number;
}

/** A call of the provider for one pod that has not settled. */
export interface PodCallReport extends ProviderCallReport {
  /** The uid of the pod. */
  readonly podUID: string;
  /** The namespace of the pod; empty where it is not known. */
  readonly podNamespace: string;
  /** The name of the pod; empty where it is not known. */
  readonly podName: string;
}

/** What the parts of the node know of one pod, but the status manager. It can be turned into JSON. */
export interface ProviderPodReport {
  /** The pod's `metadata.uid`: of a static pod its own, not that of its mirror pod. */
  readonly podUID: string;
  /** The pod's namespace; empty where it is not known. */
  readonly namespace: string;
  /** The pod's name; empty where it is not known. */
  readonly name: string;
  /** The source that the pod is from, such as `api` or `file`; undefined where no source names the pod any more. */
  readonly source: string | undefined;
  /** Undefined for a pod that no worker knows: it was not begun yet, was refused, or is over. */
  readonly worker: PodWorkerReport | undefined;
  /** When the pod is synced again, in milliseconds since the epoch; undefined for a pod that waits for no time. */
  readonly nextSyncAt: number | undefined;
  /** True while containers of the pod may run. */
  readonly couldRun: boolean;
  /** True once the pod is to end. */
  readonly isTerminationRequested: boolean;
  /** True while the provider has something of the pod, as far as is known. */
  readonly isHeld: boolean;
  /** When `getPodStatus` was last called, in milliseconds since the epoch; undefined before the first time. */
  readonly askedAt: number | undefined;
  /** The call of the provider that is under way, whichever it is: of several `deletePod` first, and `getPodStatus` last. */
  readonly underWay: ProviderCallReport | undefined;
  /** The call of the provider that waits for its turn, and since when; of several the one that waits longest. */
  readonly waitsForTurn: ProviderCallReport | undefined;
  /** The call under way, or waiting for its turn, that creates or updates the pod. */
  readonly change: 'createPod' | 'updatePod' | undefined;
  /** When that call began, or since when it waits, in milliseconds since the epoch. */
  readonly changeSince: number | undefined;
  /** The last failure of `createPod` or `updatePod`, while no success has followed. */
  readonly failure: (ProviderFailureReport & { readonly method: 'createPod' | 'updatePod' }) | undefined;
  /** The last failure of `deletePod`, while no success has followed. */
  readonly deleteFailure: ProviderFailureReport | undefined;
  /** The last failure of `getPodStatus`, while no answer has followed. */
  readonly answerFailure: ProviderFailureReport | undefined;
}

/** Why a pod is as it is. It can be turned into JSON. */
export interface ProviderPodExplanation extends ProviderPodReport {
  /** What is wrong with the pod; undefined when all is well. Of several problems the one that tells most: the provider's first, then the worker's, then the status manager's. */
  readonly problem: PodProblem | undefined;
  /** Why the pod's newest status is, or is not, on the apiserver. */
  readonly status: PodExplanation;
  /** What the pod's source did last; undefined where no source names the pod. */
  readonly sourceReport: PodSourceReport | undefined;
}

/** How a node is, and what it waits for. It can be turned into JSON. */
export interface ProviderNodeSnapshot extends ProblemReport {
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
  /** `idle`, `running`, `stopping` or `stopped`. */
  readonly state: RunStateName;
  /** The name of the node. */
  readonly nodeName: string;
  /** True while the node is on the apiserver, as far as is known. */
  readonly registered: boolean;
  /** True while the node is registered, and what its Ready condition is to say is True. */
  readonly ready: boolean;
  /** Pods that the node has and of which no status was set yet; at most 1000. */
  readonly podsWithoutStatus: readonly PodWithoutStatus[];
  /** Calls of the provider that have been under way for a second or longer: no problem, but why a pod waits. At most 1000. */
  readonly callsUnderWay: readonly PodCallReport[];
  /** How many calls of the provider wait for their turn: see `pods.concurrency` and `pods.rateLimiter`. */
  readonly callsWaiting: number;
  /**
   * Since when the provider's `release` has been under way, in milliseconds since the epoch; undefined before it is called, and once it has
   * settled. What it has failed at, and that it is late, is the problem `release`.
   */
  readonly releasingSince: number | undefined;
  /** The Node on the apiserver: what was written last, and what failed. */
  readonly node: Pick<NodeObjectReport, 'uid' | 'readiness' | 'lastReportAt' | 'rival'> & {
    /** Why the Node could not be written or read last, while no success has followed. */
    readonly lastError: RetriedError | undefined;
  };
  /** The node's Lease. */
  readonly lease: {
    /** When it was last renewed, in milliseconds since the epoch. */
    readonly lastRenewAt: number | undefined;
    /** Why it could not be renewed last, while no success has followed. */
    readonly lastError: RetriedError | undefined;
  };
  /** Each source of pods, in the order in which they were added. */
  readonly sources: readonly PodSourceReport[];
  /** The sync loop. */
  readonly loop: {
    /** The state of the loop: `idle`, `running`, `stopping` or `stopped`. */
    readonly state: RunStateName;
    /** True once an update of every source was handled. */
    readonly sourcesReady: boolean;
    /** When an iteration has ended last, in milliseconds since the epoch. */
    readonly lastIterationAt: number | undefined;
  };
  /** The pods that wait for the time of their next sync. */
  readonly workQueue: {
    /** How many pods wait. */
    readonly size: number;
  };
  /** How many pods the workers know, and what is done for them. */
  readonly workers: PodWorkersReport;
  /** Every pod that the agent, the workers or the provider have; empty with `pods: false`. */
  readonly pods: readonly ProviderPodReport[];
}

/** How much a snapshot shows. */
export interface ProviderNodeSnapshotOptions {
  /** False leaves out the pods, which are most of the work. Default true. */
  readonly pods?: boolean;
}
