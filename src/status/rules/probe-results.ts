import type { Pod, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import { ownCopy } from '../canonical/canonical-json.ts';
import { generateReadinessConditions } from '../conditions/generate-conditions.ts';
import { putPodConditions } from '../conditions/pod-conditions.ts';

const lists = ['containerStatuses', 'initContainerStatuses'] as const;

/**
 * The status with one container's probe result in it; undefined when there is no such container, or nothing changes.
 * Its own members and its list of conditions belong to the caller; the rest is shared.
 */
function withContainer(
  status: WirePodStatus,
  containerID: string,
  change: (container: WireContainerStatus) => WireContainerStatus | undefined,
): WirePodStatus | undefined {
  for (const list of lists) {
    const statuses = status[list] ?? [];
    const index = statuses.findIndex((container) => container.containerID === containerID);
    const container = statuses[index];
    if (container === undefined) continue;
    const changed = change(container);
    if (changed === undefined) return undefined;
    const next = ownCopy(status);
    next[list] = statuses.with(index, changed);
    return next;
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
  next.conditions ??= [];
  putPodConditions(next.conditions, generateReadinessConditions(pod, status, next));
  return next;
}

/** Behaviour of pkg/kubelet/status SetContainerStartup, v1.36.3. */
export function withContainerStartup(status: WirePodStatus, containerID: string, started: boolean): WirePodStatus | undefined {
  return withContainer(status, containerID, (container) =>
    container.started === started ? undefined : { ...container, started },
  );
}
