// Behaviour of pkg/kubelet/prober/prober_manager.go UpdatePodStatus, v1.36.3: which containers the probes are asked of.

import type { Pod, WireContainerStatus } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';

/** What the probes say of containers, such as a `ProbeManager`. */
export interface ContainerProbeStates {
  /**
   * Asked of running containers only; `container.started` is what was reported before. `started`: it has passed its startup
   * probe, or has none. `ready`: it has passed its readiness probe as well, or has none. What this throws, and any answer but
   * true, counts as false.
   */
  containerState(pod: Pod, container: WireContainerStatus): { readonly started: boolean; readonly ready: boolean };
}

const nothing = { started: false, ready: false };

/** Nobody probes: what runs is started and ready. */
export const withoutProbes: ContainerProbeStates = { containerState: () => ({ started: true, ready: true }) };

/** `statuses` with `started` and `ready` in them. What does not run keeps the `ready` it has. */
export function withProbeStates(
  pod: Pod,
  statuses: readonly WireContainerStatus[],
  probes: ContainerProbeStates,
): WireContainerStatus[] {
  return statuses.map((status) => withProbeState(pod, status, probes));
}

/** The same of init containers: of those that are no sidecars none is ready until it has succeeded. */
export function withInitProbeStates(
  pod: Pod,
  containers: readonly Container[],
  statuses: readonly WireContainerStatus[],
  probes: ContainerProbeStates,
): WireContainerStatus[] {
  return statuses.map((status, index) => {
    const container = containers[index];
    if (container !== undefined && isRestartableInitContainer(container)) return withProbeState(pod, status, probes);
    const { started } = stateOf(pod, status, probes);
    return { ...status, started, ready: status.ready || status.state?.terminated?.exitCode === 0 };
  });
}

function withProbeState(pod: Pod, status: WireContainerStatus, probes: ContainerProbeStates): WireContainerStatus {
  const { started, ready } = stateOf(pod, status, probes);
  return started ? { ...status, started, ready } : { ...status, started };
}

function stateOf(pod: Pod, status: WireContainerStatus, probes: ContainerProbeStates): typeof nothing {
  if (!status.state?.running) return nothing;
  const answer = callGuarded(() => probes.containerState(pod, status), ignoreFailure);
  return { started: answer?.started === true, ready: answer?.ready === true };
}
