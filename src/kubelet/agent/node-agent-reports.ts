import { apiserverSource, podSourceOf, podUIDOf } from '../../api/pod/pod-identity.ts';
import type { RunStateName } from '../../base/concurrency/run-state.ts';
import { type PodProblem, type ProblemReport, problemReport } from '../../base/problem.ts';
import type { PodSourceReport } from '../../node/config/pod-config.ts';
import type { NodeObjectReport } from '../../node/node-object/node-object.ts';
import type { NodeObjectStopped } from '../../node/node-object/node-removal.ts';
import { leftOutProblems, namesOf, type PodWithoutStatus } from '../../node/node-problems.ts';
import type { PodWorkerReport, PodWorkersReport } from '../../node/workers/pod-worker-report.ts';
import type { StoppedWorkers } from '../../node/workers/pod-workers.ts';
import type { PodExplanation } from '../../status/sync/explain.ts';
import type { StopResult } from '../../status/sync/status-sync.ts';
import type { NodeShutdownReport } from '../shutdown/node-shutdown.ts';
import { type OwnState, problemsOfAgent } from './agent-node-problems.ts';
import { problemsOfPod, problemsOfPods, seenAt } from './agent-pod-problems.ts';
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
  /** What is wrong with the pod: the most telling of what is; undefined when all is well. */
  readonly problem: PodProblem | undefined;
  /** Undefined for a pod that no worker knows: it was not begun yet, was refused, or is over. */
  readonly worker: PodWorkerReport | undefined;
}

/** Why a pod is as it is. It can be turned into JSON. */
export interface AgentPodExplanation extends Omit<AgentPodReport, 'source'> {
  /** The source that the pod is from, such as `api` or `file`; undefined where no source names the pod any more. */
  readonly source: string | undefined;
  /** All that is wrong with the pod, the most telling first. */
  readonly problems: readonly PodProblem[];
  /** When the pod is synced again, in milliseconds since the epoch; undefined for a pod that waits for no time. */
  readonly nextSyncAt: number | undefined;
  /** True while containers of the pod may run. */
  readonly couldRun: boolean;
  /** True once the pod is to end. */
  readonly isTerminationRequested: boolean;
  /** Why the pod's newest status is, or is not, on the apiserver. */
  readonly status: PodExplanation;
  /** What the pod's source did last; undefined where no source names the pod. */
  readonly sourceReport: PodSourceReport | undefined;
}

/** At most so many pods without a status are listed. */
const mostListed = 1000;

/** What a {@link NodeAgentSnapshot} is to have. */
export interface NodeAgentSnapshotOptions {
  /** False: without the pods. Default true. */
  readonly pods?: boolean;
}

/** How an agent is, and what it waits for. It can be turned into JSON. */
export interface NodeAgentSnapshot extends ProblemReport {
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
  /** The pods of which the agent has told no status yet, at most 1000. */
  readonly podsWithoutStatus: readonly PodWithoutStatus[];
  /** The runtime, as it names itself; undefined until it has answered. */
  readonly runtime: { readonly name: string; readonly version: string } | undefined;
  /** The node's object, and what failed last of it. */
  readonly node: Omit<NodeObjectReport, 'nodeFailure' | 'leaseFailure' | 'watchFailure'>;
  /** What each source did last. */
  readonly sources: readonly PodSourceReport[];
  /** How the pods end before the machine shuts down; undefined where they do not end in order. */
  readonly shutdown: NodeShutdownReport | undefined;
  /** What the workers do. */
  readonly workers: PodWorkersReport;
  /** The pods; undefined where they were not asked for. */
  readonly pods: readonly AgentPodReport[] | undefined;
}

export function agentSnapshot(kubelet: MainKubelet, own: OwnState, withPods: boolean): NodeAgentSnapshot {
  const { options, podWorkers, podConfig, node: agentNode } = kubelet;
  const [report, sources] = [agentNode.object.explain(), podConfig.explain()];
  const { nodeFailure: _node, leaseFailure: _lease, watchFailure: _watch, ...node } = report;
  const { version } = agentNode.runtimeWatch;
  const at = options.clock.now();
  const ofPods = own.state === 'running' ? problemsOfPods(kubelet) : [];
  return {
    at,
    state: own.state,
    nodeName: options.nodeName,
    registered: node.registered,
    node,
    sources,
    shutdown: agentNode.shutdown?.report(),
    workers: podWorkers.snapshot(),
    ready: node.registered && node.readiness?.ready === true,
    ...problemReport([...problemsOfAgent(kubelet, own, { at, node: report, sources }), ...ofPods], at),
    podsWithoutStatus: podsWithoutStatus(kubelet),
    runtime: version && { name: version.runtimeName, version: version.runtimeVersion },
    pods: withPods ? podReports(kubelet, ofPods) : undefined,
  };
}

/** Why a pod is as it is. Sends nothing and changes nothing. */
export function explainAgentPod(kubelet: MainKubelet, podUID: string): AgentPodExplanation {
  const { options, podWorkers, podSyncer, podConfig, statusManager } = kubelet;
  const pod = options.podManager.getPodByUID(podUID);
  const sources = podConfig.explain();
  const leftOut = sources.flatMap(leftOutProblems).filter((one) => one.podUID === podUID);
  const known = podSyncer.troubles.pods().find((one) => one.podUID === podUID) ?? leftOut[0];
  const status = statusManager.explain(podUID);
  const { podNamespace = '', podName = '' } = pod === undefined ? (known ?? {}) : namesOf(pod);
  const names = { podUID, podNamespace, podName };
  const problems = [...problemsOfPod(kubelet, names, status.problem), ...leftOut];
  const source = pod && (podSourceOf(pod) ?? apiserverSource);
  return {
    podUID,
    namespace: names.podNamespace,
    name: names.podName,
    source,
    phase: statusManager.getPodStatus(podUID)?.phase,
    problem: problems[0],
    problems,
    worker: podWorkers.explain(podUID),
    nextSyncAt: podWorkers.workQueue.dueAt(podUID),
    couldRun: podWorkers.couldHaveRunningContainers(podUID),
    isTerminationRequested: podWorkers.isPodTerminationRequested(podUID),
    status,
    sourceReport: sources.find(({ name }) => name === source),
  };
}

function podReports(kubelet: MainKubelet, problems: readonly PodProblem[]): AgentPodReport[] {
  const { options, podWorkers, statusManager } = kubelet;
  const ofPod = new Map<string, PodProblem>();
  // the first of a pod tells most
  for (const problem of problems) if (!ofPod.has(problem.podUID)) ofPod.set(problem.podUID, problem);
  return options.podManager.getPods().map((pod) => {
    const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
    return {
      podUID: uid,
      namespace,
      name,
      source: podSourceOf(pod) ?? apiserverSource,
      phase: statusManager.getPodStatus(uid)?.phase,
      problem: ofPod.get(uid),
      worker: podWorkers.explain(uid),
    };
  });
}

/** Pods that nobody has told anything of yet. */
function podsWithoutStatus({ options, statusManager }: MainKubelet): PodWithoutStatus[] {
  const untold = options.podManager.getPods().filter((pod) => statusManager.getPodStatus(podUIDOf(pod)) === undefined);
  return untold.slice(0, mostListed).map((pod) => ({ ...namesOf(pod), since: seenAt(pod) ?? options.clock.now() }));
}
