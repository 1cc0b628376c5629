import { apiserverSource, podSourceOf } from '../../api/pod/pod-identity.ts';
import type { RunStateName } from '../../base/concurrency/run-state.ts';
import type { PodSourceReport } from '../../node/config/pod-config.ts';
import type { NodeObjectReport } from '../../node/node-object/node-object.ts';
import type { NodeObjectStopped } from '../../node/node-object/node-removal.ts';
import type { PodWorkerReport, PodWorkersReport } from '../../node/workers/pod-worker-report.ts';
import type { StoppedWorkers } from '../../node/workers/pod-workers.ts';
import type { StopResult } from '../../status/sync/status-sync.ts';
import type { MainKubelet } from './main-kubelet.ts';

/** What becomes of the pods, and how long a stop and the parts of it may take. */
export interface StopNodeAgentOptions {
  /** False: the containers of every pod are ended, within their grace periods and `timeoutMs`. Default true: they go on. */
  readonly leavePodsRunning?: boolean;
  /** How long the whole stop may take, in milliseconds. Default 20 000: systemd and Kubernetes kill an agent after 30 seconds. */
  readonly timeoutMs?: number;
  /** How long the status manager may write what is left, in milliseconds. Default 10 000. */
  readonly drainTimeoutMs?: number;
  /** How long calls of the runtime may go on that do not heed their signal, in milliseconds. Default 5000. */
  readonly callsTimeoutMs?: number;
}

/** What a stop has left behind. */
export interface StoppedNodeAgent {
  /** What could not be written. */
  readonly statuses: StopResult;
  /** The calls for pods that had not settled. */
  readonly workers: StoppedWorkers;
  /** What became of the Node and its Lease. */
  readonly node: NodeObjectStopped;
}

/** What the agent knows of one pod. It can be turned into JSON. */
export interface AgentPodReport {
  /** The pod's `metadata.uid`: of a static pod its own, not that of its mirror pod. */
  readonly podUID: string;
  /** The pod's namespace. */
  readonly namespace: string;
  /** The pod's name. */
  readonly name: string;
  /** The source that the pod is from, such as `api` or `file`. */
  readonly source: string;
  /** The newest phase that the agent has told; undefined before the first one. */
  readonly phase: string | undefined;
  /** Undefined for a pod that no worker knows: it was not begun yet, was refused, or is over. */
  readonly worker: PodWorkerReport | undefined;
}

/** What a {@link NodeAgentSnapshot} is to have. */
export interface NodeAgentSnapshotOptions {
  /** False: without the pods. Default true. */
  readonly pods?: boolean;
}

/** How an agent is, and what it waits for. It can be turned into JSON. */
export interface NodeAgentSnapshot {
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
  /** In words: what the agent waits for, and what failed last. Empty when all is well. */
  readonly notes: readonly string[];
  /** The runtime, as it names itself; undefined until it has answered. */
  readonly runtime: { readonly name: string; readonly version: string } | undefined;
  /** The node's object, and what failed last of it. */
  readonly node: Omit<NodeObjectReport, 'nodeFailure' | 'leaseFailure'>;
  /** What each source did last. */
  readonly sources: readonly PodSourceReport[];
  /** What the workers do. */
  readonly workers: PodWorkersReport;
  /** The pods; undefined where they were not asked for. */
  readonly pods: readonly AgentPodReport[] | undefined;
}

export function agentSnapshot(kubelet: MainKubelet, state: RunStateName, withPods: boolean): NodeAgentSnapshot {
  const { options, podWorkers, podConfig, node: agentNode } = kubelet;
  const { runtimeWatch } = agentNode;
  const { nodeFailure, leaseFailure, ...node } = agentNode.object.explain();
  const sources = podConfig.explain();
  const workers = podWorkers.snapshot();
  const notes = [
    ...(node.registered ? [] : [`the node object is not registered${because(nodeFailure?.error)}`]),
    ...(node.registered && nodeFailure ? [`the node object could not be kept in step${because(nodeFailure.error)}`] : []),
    ...(leaseFailure ? [`the Lease of the node could not be renewed${because(leaseFailure.error)}`] : []),
    ...sources.flatMap(({ name, hasSent, lastError }) =>
      hasSent ? [] : [`the source "${name}" has not sent its pods${because(lastError)}`],
    ),
    ...[runtimeWatch.runtimeError(), runtimeWatch.networkError()].flatMap((error) => error ?? []),
  ];
  const { version } = runtimeWatch;
  return {
    at: options.clock.now(),
    state,
    nodeName: options.nodeName,
    registered: node.registered,
    node,
    sources,
    workers,
    ready: node.registered && node.readiness?.ready === true,
    notes: state === 'running' ? notes : [`the node agent is ${state}`],
    runtime: version && { name: version.runtimeName, version: version.runtimeVersion },
    pods: withPods ? podReports(kubelet) : undefined,
  };
}

function podReports({ options, podWorkers, statusManager }: MainKubelet): AgentPodReport[] {
  return options.podManager.getPods().map((pod) => {
    const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
    const phase = statusManager.getPodStatus(uid)?.phase;
    return { podUID: uid, namespace, name, source: podSourceOf(pod) ?? apiserverSource, phase, worker: podWorkers.explain(uid) };
  });
}

function because(error: unknown): string {
  if (error === undefined) return '';
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  return `: ${String(message)}`;
}
