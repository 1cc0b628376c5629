// Behaviour of pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses (containers without a record), v1.36.3.

import type { Pod, WireContainerStatus } from '../../api/json/types.ts';
import { type Container, shownImage } from '../../api/pod/pod-containers.ts';
import { unseenEnd } from './runtime-container-state.ts';
import { runtimeReason, unseenExitCode } from './runtime-reasons.ts';
import { volumeMountStatuses } from './volume-mount-statuses.ts';

const removedForRestart = 'The container is removed because RestartAllContainers in place';
const wasRunning = 'The container could not be located when the pod was deleted.  The container used to be Running';

/**
 * The status of a container that the runtime does not list: it waits to be created, unless it has ended before. One that ran
 * has a last state of exit code 137, and counts one more, since it will be started again, unless the pod is being deleted.
 */
export function statusWithoutRecord(
  pod: Pod,
  container: Container,
  old: WireContainerStatus | undefined,
  podIsRestarting: boolean,
): WireContainerStatus {
  const status = old?.state?.terminated ? oldStatusOf(old) : waitingStatus(pod, container, old);
  if (old === undefined) return status;
  if (podIsRestarting && !old.state?.waiting) return removedStatus(status, old);
  if (!old.state?.running || status.lastState?.terminated) return status;
  status.lastState = { terminated: unseenEnd(wasRunning) };
  if (!pod.metadata?.deletionTimestamp) status.restartCount++;
  return status;
}

/** Why a container waits that is not there yet: a pod with init containers is initialising. */
export function waitingReasonOf({ spec }: Pod): string {
  return (spec?.initContainers?.length ?? 0) > 0 ? runtimeReason.podInitializing : runtimeReason.containerCreating;
}

function waitingStatus(pod: Pod, container: Container, old: WireContainerStatus | undefined): WireContainerStatus {
  const status: WireContainerStatus = {
    name: container.name,
    state: { waiting: { reason: waitingReasonOf(pod) } },
    lastState: { ...old?.lastState },
    ready: false,
    restartCount: old?.restartCount ?? 0,
    image: shownImage(container.image ?? ''),
    imageID: '',
  };
  const mounts = volumeMountStatuses(container);
  if (mounts !== undefined) status.volumeMounts = mounts;
  return status;
}

/** All containers are being restarted in place, and this one is gone for it. */
function removedStatus(status: WireContainerStatus, old: WireContainerStatus): WireContainerStatus {
  const says = { reason: runtimeReason.restartingAllContainers, message: removedForRestart };
  return {
    ...status,
    state: { waiting: { ...says } },
    lastState: { terminated: { ...says, exitCode: unseenExitCode } },
    restartCount: old.restartCount + 1,
  };
}

function oldStatusOf(old: WireContainerStatus): WireContainerStatus {
  return { ...old, state: { ...old.state }, lastState: { ...old.lastState } };
}
