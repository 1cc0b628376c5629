import type { WirePodStatus } from '../../../src/api/json/types.ts';
import type { RuntimeContainerStatus, RuntimePodStatus } from '../../../src/api/pod/runtime-pod.ts';
import type { ContainerProbeStates } from '../../../src/node/pod-status/container-statuses.ts';
import { generatePodStatus } from '../../../src/node/pod-status/generate-pod-status.ts';
import { stateOfContainer } from '../../../src/node/probes/container-state.ts';
import { ProbeResults } from '../../../src/node/probes/probe-types.ts';
import type { RecordedContainer, RecordedRuntime, StatusesCase } from './statuses-case.ts';

const agentStartedAt = Date.parse('2000-01-01T00:00:00Z');

/** The status that we make of it. */
export function playStatuses({
  pod,
  runtime,
  previous,
  podIsTerminal,
  nodeIP,
  reasons,
  ...results
}: StatusesCase): WirePodStatus {
  return generatePodStatus({
    pod,
    runtimeStatus: runtimeStatusOf(pod.metadata?.uid ?? '', runtime),
    previous,
    podIsTerminal,
    nodeIPs: [nodeIP],
    reasons: new Map(Object.entries(reasons ?? {})),
    probes: recordedProbes(results),
  });
}

/** A probe manager that has these results and makes no probes. */
function recordedProbes(recorded: Pick<StatusesCase, 'startup' | 'readiness'>): ContainerProbeStates {
  const results = new ProbeResults();
  for (const type of ['startup', 'readiness'] as const) {
    for (const [id, ok] of Object.entries(recorded[type] ?? {})) results.set(type, id, ok ? 'Success' : 'Failure');
  }
  const context = { results, agentStartedAt, hasWorker: () => false, triggerReadiness: () => {} };
  return { containerState: (pod, container) => stateOfContainer(pod, container, context) };
}

function runtimeStatusOf(podUID: string, { ips = [], containers = [], sandboxes = [] }: RecordedRuntime): RuntimePodStatus {
  return {
    podUID,
    ips,
    containers: containers.map(containerOf),
    sandboxes: sandboxes.map(({ ready = false, hostNetwork = false, ip = '' }) => ({ ready, hostNetwork, network: { ip } })),
  };
}

function containerOf({ createdAt, startedAt, finishedAt, ...rest }: RecordedContainer): RuntimeContainerStatus {
  return {
    ...rest,
    createdAt: Date.parse(createdAt),
    ...(startedAt !== undefined && { startedAt: Date.parse(startedAt) }),
    ...(finishedAt !== undefined && { finishedAt: Date.parse(finishedAt) }),
  };
}
