import type { Pod, WireContainerStatus, WirePodStatus } from '../api/wire.ts';
import { generateContainersReadyCondition, generatePodReadyCondition } from './generate-conditions.ts';
import { replaceOrAppendPodCondition } from './pod-conditions.ts';

type ListName = 'containerStatuses' | 'initContainerStatuses';

/** The status with one container's probe result in it; undefined when there is no such container, or nothing changes. */
function withContainer(
  status: WirePodStatus,
  containerID: string,
  change: (container: WireContainerStatus) => WireContainerStatus | undefined,
): WirePodStatus | undefined {
  for (const list of ['containerStatuses', 'initContainerStatuses'] satisfies ListName[]) {
    const statuses = status[list] ?? [];
    const index = statuses.findIndex((container) => container.containerID === containerID);
    const container = statuses[index];
    if (container === undefined) continue;
    const changed = change(container);
    return changed && { ...status, [list]: statuses.with(index, changed) };
  }
  return undefined;
}

/** Behaviour of pkg/kubelet/status SetContainerReadiness, v1.36.3: the container's `ready`, then Ready and ContainersReady. */
export function withContainerReadiness(
  pod: Pod,
  status: WirePodStatus,
  containerID: string,
  ready: boolean,
): WirePodStatus | undefined {
  const next = withContainer(status, containerID, (container) =>
    container.ready === ready ? undefined : { ...container, ready },
  );
  if (next === undefined) return undefined;
  const statuses = [...(next.initContainerStatuses ?? []), ...(next.containerStatuses ?? [])];
  const isReady = generatePodReadyCondition(pod, status, next.conditions, statuses, next.phase);
  const containersReady = generateContainersReadyCondition(pod, status, statuses, next.phase);
  const conditions = replaceOrAppendPodCondition(replaceOrAppendPodCondition(next.conditions, isReady), containersReady);
  return { ...next, conditions };
}

/** Behaviour of pkg/kubelet/status SetContainerStartup, v1.36.3. */
export function withContainerStartup(status: WirePodStatus, containerID: string, started: boolean): WirePodStatus | undefined {
  return withContainer(status, containerID, (container) =>
    container.started === started ? undefined : { ...container, started },
  );
}
