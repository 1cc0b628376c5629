// Behaviour of pkg/kubelet/status/status_manager.go TerminatePod, v1.36.3: the status it makes.

import type { ContainerStatus, Pod, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import { isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { isStaticPod, isTerminalPhase } from '../../api/pod/pod-identity.ts';

export interface TerminatedStatus {
  readonly status: WirePodStatus;
  /** The phase before ('' for none), when it was not terminal and is Failed now. Anything but Pending or Running is odd. */
  readonly forcedPhaseFrom?: string;
}

/**
 * The last status of a pod that will run no more: containers whose end the agent did not see are given up as unknown, and the phase
 * becomes terminal. The rest is `baseStatus`'s own, shared with it.
 * Neither input is changed.
 */
export function terminatedStatus(pod: Pod, baseStatus: WirePodStatus): TerminatedStatus {
  const status: WirePodStatus = { ...baseStatus };
  // A pod that never got past its init containers has regular containers that truly never ran: they stay Waiting.
  if (baseStatus.containerStatuses && hasPodInitialized(pod)) {
    status.containerStatuses = baseStatus.containerStatuses.map(endedForSure);
  }
  if (baseStatus.initContainerStatuses) {
    const begun = countBegun(baseStatus.initContainerStatuses);
    status.initContainerStatuses = baseStatus.initContainerStatuses.map((s, i) => (i < begun ? endedForSure(s) : s));
  }
  const { phase } = baseStatus;
  if (isStaticPod(pod) || isTerminalPhase(phase)) return { status };
  return { status: { ...status, phase: 'Failed' }, forcedPhaseFrom: phase ?? '' };
}

/** A container without a terminated state ends as unknown, with exit code 137 and without times; `lastState` is kept. */
function endedForSure(status: WireContainerStatus): WireContainerStatus {
  if (status.state?.terminated) return status;
  const message = 'The container could not be located when the pod was terminated';
  return { ...status, state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', message } } };
}

/** How many init containers count as begun: all up to the last that ever ran, and at least the first. */
function countBegun(statuses: readonly WireContainerStatus[]): number {
  return Math.max(statuses.findLastIndex(hasLeftWaiting) + 1, Math.min(statuses.length, 1));
}

/** A state that says nothing is not Waiting. */
function hasLeftWaiting({ state, lastState }: ContainerStatus): boolean {
  return !state?.waiting || !!lastState?.terminated;
}

/** Judged by the pod's own status, as upstream does, and not by the status that is being rewritten. */
function hasPodInitialized({ spec, status }: Pod): boolean {
  if (!spec?.initContainers?.length || status?.containerStatuses?.some(hasLeftWaiting)) return true;
  const statuses = status?.initContainerStatuses ?? [];
  const last = statuses.at(-1);
  const container = spec.initContainers[statuses.length - 1];
  if (last === undefined || container?.name !== last.name) return false;
  if (isRestartableInitContainer(container)) return !!last.state?.running && last.started === true;
  return last.lastState?.terminated?.exitCode === 0 || last.state?.terminated?.exitCode === 0;
}
