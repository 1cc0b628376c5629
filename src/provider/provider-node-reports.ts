import type { NodeObjectStopped } from '../node-object/node-removal.ts';
import type { PodExplanation } from '../status/sync/explain.ts';
import type { StopResult } from '../status/sync/status-sync.ts';
import type { StoppedWorkers } from '../workers/pod-workers.ts';
import type { ProviderFailure } from './provided-pod.ts';

export interface StopProviderNodeOptions {
  /** How long the whole stop may take, in milliseconds. Default 20 000: Kubernetes kills an agent after 30 seconds. */
  readonly timeoutMs?: number;
  /** How long the status manager may write what is left, in milliseconds. Default 10 000. */
  readonly drainTimeoutMs?: number;
  /** How long calls of the provider may go on that do not heed their signal, in milliseconds. Default 5000. */
  readonly callsTimeoutMs?: number;
}

export interface StoppedProviderNode {
  /** What could not be written. */
  readonly statuses: StopResult;
  readonly workers: StoppedWorkers;
  readonly node: NodeObjectStopped;
}

/** Why a pod is as it is. */
export interface ProviderPodExplanation {
  readonly status: PodExplanation;
  /** True while containers of the pod may run. */
  readonly couldRun: boolean;
  readonly isTerminationRequested: boolean;
  /** True while the provider has something of the pod, as far as is known. */
  readonly isHeld: boolean;
  /** The call under way that creates or updates the pod. */
  readonly change: 'createPod' | 'updatePod' | undefined;
  /** When that call began, in milliseconds since the epoch. */
  readonly changeSince: number | undefined;
  readonly failure: Pick<ProviderFailure, 'method' | 'message' | 'attempts' | 'retryAt'> | undefined;
}
