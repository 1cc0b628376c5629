import { apiserverSource, podSourceOf } from '../../api/pod/pod-identity.ts';
import type { Clock } from '../../base/clock.ts';
import type { RunStateName } from '../../base/concurrency/run-state.ts';
import type { PodConfig } from '../../node/config/pod-config.ts';
import type { NodeObject } from '../../node/node-object/node-object.ts';
import type { PodWorkers } from '../../node/workers/pod-workers.ts';
import type { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { RuntimeWatch } from '../machine/runtime-watch.ts';
import type { AgentPodReport, NodeAgentSnapshot } from './node-agent-reports.ts';

/** What a snapshot is made from. */
export interface AgentToShow {
  readonly nodeName: string;
  readonly state: RunStateName;
  readonly clock: Clock;
  readonly podManager: BasicPodManager;
  readonly podWorkers: PodWorkers;
  readonly statusManager: StatusManager;
  readonly nodeObject: NodeObject;
  readonly config: PodConfig;
  readonly watch: RuntimeWatch;
}

export function agentSnapshot(agent: AgentToShow, withPods: boolean): NodeAgentSnapshot {
  const { nodeName, state, clock, podWorkers, nodeObject, config, watch } = agent;
  const { nodeFailure, leaseFailure, ...node } = nodeObject.explain();
  const sources = config.explain();
  const workers = podWorkers.snapshot();
  const notes = [
    ...(node.registered ? [] : [`the node object is not registered${because(nodeFailure?.error)}`]),
    ...(node.registered && nodeFailure ? [`the node object could not be kept in step${because(nodeFailure.error)}`] : []),
    ...(leaseFailure ? [`the Lease of the node could not be renewed${because(leaseFailure.error)}`] : []),
    ...sources.flatMap(({ name, hasSent, lastError }) =>
      hasSent ? [] : [`the source "${name}" has not sent its pods${because(lastError)}`],
    ),
    ...[watch.runtimeError(), watch.networkError()].flatMap((error) => error ?? []),
  ];
  return {
    ...{ at: clock.now(), state, nodeName, registered: node.registered, node, sources, workers },
    ready: node.registered && node.readiness?.ready === true,
    notes: state === 'running' ? notes : [`the node agent is ${state}`],
    runtime: watch.version && { name: watch.version.runtimeName, version: watch.version.runtimeVersion },
    pods: withPods ? podReports(agent) : undefined,
  };
}

function podReports({ podManager, podWorkers, statusManager }: AgentToShow): AgentPodReport[] {
  return podManager.getPods().map((pod) => {
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
