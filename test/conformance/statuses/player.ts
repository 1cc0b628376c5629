import type { RuntimeContainerStatus, RuntimePodStatus } from '../../../src/pod/runtime-pod.ts';
import { generatePodStatus } from '../../../src/runtime-status/generate-pod-status.ts';
import type { WirePodStatus } from '../../../src/wire/types.ts';
import type { RecordedContainer, RecordedRuntime, StatusesCase } from './case.ts';

const agentStartedAt = Date.parse('2000-01-01T00:00:00Z');

/** The status that we make of it. */
export function playStatuses({ pod, runtime, previous, podIsTerminal, nodeIP, reasons, ...probes }: StatusesCase): WirePodStatus {
  const results = {
    startup: (containerID: string) => probes.startup?.[containerID],
    readiness: (containerID: string) => probes.readiness?.[containerID],
  };
  return generatePodStatus({
    pod,
    runtimeStatus: runtimeStatusOf(pod.metadata?.uid ?? '', runtime),
    previous,
    podIsTerminal,
    nodeIPs: [nodeIP],
    reasons: new Map(Object.entries(reasons ?? {})),
    probeResults: probeStates(results, agentStartedAt),
  });
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
