// Behaviour of pkg/kubelet/status/status_manager.go checkContainerStateTransition, v1.36.3.

import type { Container, PodSpec } from '../../conditions/restart-policy.ts';
import { containerShouldRestart, hasRestartAllContainersRule } from '../../conditions/restart-policy.ts';
import type { PodStatus } from '../../wire/types.ts';

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

/**
 * Undefined when every container may go from its old state to its new one; otherwise what is wrong, for a log or an event.
 *
 * The one thing forbidden is to leave `terminated` when neither the pod's restart policy nor the container's own allows
 * another run. Containers are compared by name; one that is missing from the new status is fine. Ephemeral containers
 * and `lastState` are never looked at.
 */
export function checkContainerStateTransition(
  oldStatus: PodStatus,
  newStatus: PodStatus,
  podSpec: PodSpec | undefined,
): string | undefined {
  if (podSpec?.restartPolicy === 'Always' || hasRestartAllContainersRule(podSpec)) return undefined;
  return (
    checkRegular(oldStatus.containerStatuses ?? [], newStatus.containerStatuses ?? [], podSpec) ??
    checkInit(oldStatus.initContainerStatuses ?? [], newStatus.initContainerStatuses ?? [], podSpec)
  );
}

function checkRegular(
  old: readonly ContainerStatus[],
  updated: readonly ContainerStatus[],
  podSpec: PodSpec | undefined,
): string | undefined {
  const illegal = old.find((status) => {
    const container = podSpec?.containers?.find(({ name }) => name === status.name);
    return !mayLeaveTerminated(status, container, podSpec) && leavesTerminated(status.name, updated);
  });
  return illegal && `terminated container ${illegal.name} attempted illegal transition to non-terminated state`;
}

/** Init containers run in the order of the spec, so an old status that is out of that order is refused as such. */
function checkInit(
  old: readonly ContainerStatus[],
  updated: readonly ContainerStatus[],
  podSpec: PodSpec | undefined,
): string | undefined {
  for (const [index, status] of old.entries()) {
    const container = podSpec?.initContainers?.[index];
    if (container?.name !== status.name) return `found mismatch between pod spec and status, container: ${status.name}`;
    // A sidecar's own policy is Always: it may.
    if (mayLeaveTerminated(status, container, podSpec)) continue;
    if (leavesTerminated(status.name, updated)) {
      return `terminated init container ${status.name} attempted illegal transition to non-terminated state`;
    }
  }
  return undefined;
}

/** A container that the spec does not name has only the pod's policy to allow it anything, and of that only OnFailure. */
function mayLeaveTerminated(status: ContainerStatus, container: Container | undefined, podSpec: PodSpec | undefined): boolean {
  const terminated = status.state?.terminated;
  if (!terminated) return true;
  // The pod's OnFailure is asked before the container's own policy: a container-level Never does not take it back.
  if (podSpec?.restartPolicy === 'OnFailure' && terminated.exitCode !== 0) return true;
  return container !== undefined && containerShouldRestart(container, podSpec?.restartPolicy, terminated.exitCode);
}

function leavesTerminated(name: string, updated: readonly ContainerStatus[]): boolean {
  return updated.some((status) => status.name === name && !status.state?.terminated);
}
