// Behaviour of pkg/kubelet/status/status_manager.go checkContainerStateTransition, v1.36.3.

import { lookupByName } from '../../api/json/json.ts';
import type { ContainerStatus, PodStatus } from '../../api/json/types.ts';
import {
  type Container,
  containerShouldRestart,
  hasRestartAllContainersRule,
  type PodSpec,
} from '../../api/pod/pod-containers.ts';

/** What is wrong with a new status. */
export interface IllegalTransition {
  /** The rule that forbids it, for a log or an event. */
  readonly reason: string;
  /** The same with the container and both of its states. */
  readonly detail: string;
}

/**
 * Undefined when every container may go from its old state to its new one; otherwise what is wrong.
 *
 * The one thing forbidden is to leave `terminated` when neither the pod's restart policy nor the container's own allows
 * another run. Containers are compared by name; one that is missing from the new status is fine. Ephemeral containers
 * and `lastState` are never looked at.
 */
export function checkContainerStateTransition(
  oldStatus: PodStatus,
  newStatus: PodStatus,
  podSpec: PodSpec | undefined,
): IllegalTransition | undefined {
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
): IllegalTransition | undefined {
  const containerOf = lookupByName(podSpec?.containers);
  const leaving = lookupByName(updated.filter(isNotTerminated));
  for (const status of old) {
    if (!status.state?.terminated || mayLeaveTerminated(status, containerOf(status.name), podSpec)) continue;
    const next = leaving(status.name);
    if (next !== undefined) return refusal('container', status, next);
  }
  return undefined;
}

/** Init containers run in the order of the spec, so an old status that is out of that order is refused as such. */
function checkInit(
  old: readonly ContainerStatus[],
  updated: readonly ContainerStatus[],
  podSpec: PodSpec | undefined,
): IllegalTransition | undefined {
  const leaving = lookupByName(updated.filter(isNotTerminated));
  for (const [index, status] of old.entries()) {
    const container = podSpec?.initContainers?.[index];
    if (container?.name !== status.name) {
      const reason = `found mismatch between pod spec and status, container: ${status.name}`;
      return { reason, detail: reason };
    }
    // A sidecar's own policy is Always: it may.
    if (mayLeaveTerminated(status, container, podSpec)) continue;
    const next = leaving(status.name);
    if (next !== undefined) return refusal('init container', status, next);
  }
  return undefined;
}

function refusal(kind: string, before: ContainerStatus, after: ContainerStatus): IllegalTransition {
  return {
    reason: `terminated ${kind} ${before.name} attempted illegal transition to non-terminated state`,
    detail: `${kind} ${before.name} from ${shownState(before)} to ${shownState(after)}`,
  };
}

function shownState({ state }: ContainerStatus): string {
  const { terminated, waiting, running } = state ?? {};
  if (terminated) return shown('terminated', `exit code ${terminated.exitCode}`, terminated.reason);
  if (running) return 'running';
  return waiting ? shown('waiting', waiting.reason) : 'no state';
}

function shown(name: string, ...details: readonly (string | undefined)[]): string {
  const given = details.filter((detail) => detail !== undefined && detail !== '');
  return given.length === 0 ? name : `${name} (${given.join(', ')})`;
}

/** A container that the spec does not name has only the pod's policy to allow it anything, and of that only OnFailure. */
function mayLeaveTerminated(status: ContainerStatus, container: Container | undefined, podSpec: PodSpec | undefined): boolean {
  const terminated = status.state?.terminated;
  if (!terminated) return true;
  // The pod's OnFailure is asked before the container's own policy: a container-level Never does not take it back.
  if (podSpec?.restartPolicy === 'OnFailure' && terminated.exitCode !== 0) return true;
  return container !== undefined && containerShouldRestart(container, podSpec?.restartPolicy, terminated.exitCode);
}

function isNotTerminated({ state }: ContainerStatus): boolean {
  return !state?.terminated;
}
