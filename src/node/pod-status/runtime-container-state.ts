// Behaviour of pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses (one record of the runtime), v1.36.3.

import { formatTime } from '../../api/json/time.ts';
import type { WireContainerStatus } from '../../api/json/types.ts';
import type { RuntimeContainerStatus } from '../../api/pod/runtime-pod.ts';
import { runtimeReason, unseenExitCode } from './runtime-reasons.ts';

export type WireContainerState = NonNullable<WireContainerStatus['state']>;
export type WireTerminated = NonNullable<WireContainerState['terminated']>;

/**
 * The status that one record of the runtime stands for. `old`: the container's status before.
 *
 * - No restart count goes back, and a container that runs after an end that was reported counts one more.
 * - The last state is the end that was reported, when this is another container by now, or else the last state that was.
 * - A container that ran, and of which the runtime says nothing any more, has ended with exit code 137.
 */
export function statusOfRecord(
  record: RuntimeContainerStatus,
  old: WireContainerStatus | undefined,
  podIsRestarting: boolean,
): WireContainerStatus {
  const status: WireContainerStatus = {
    name: record.name,
    state: {},
    lastState: lastStateOf(record, old),
    ready: false,
    restartCount: Math.max(record.restartCount ?? 0, old?.restartCount ?? 0),
    image: record.image ?? '',
    imageID: record.imageRef ?? '',
  };
  if (record.id !== '') status.containerID = record.id;
  if (old?.volumeMounts !== undefined) status.volumeMounts = old.volumeMounts;
  if (record.state === 'running') {
    status.state = { running: timeMember('startedAt', record.startedAt) };
    if (old?.state?.terminated && old.restartCount >= (record.restartCount ?? 0)) status.restartCount = old.restartCount + 1;
    if (old?.started !== undefined) status.started = old.started;
  } else if (record.state === 'exited') {
    status.state = { terminated: endOfRecord(record) };
  } else if (record.state === 'unknown' && old?.state?.running) {
    status.state = { terminated: unseenEnd('The container could not be located when the pod was terminated', podIsRestarting) };
    status.restartCount = old.restartCount + 1;
  } else {
    status.state = { waiting: {} };
  }
  return status;
}

/** The end of a container that nobody saw. */
export function unseenEnd(message: string, podIsRestarting = false): WireTerminated {
  const reason = podIsRestarting ? runtimeReason.restartingAllContainers : runtimeReason.containerStatusUnknown;
  return { exitCode: unseenExitCode, reason, message };
}

function endOfRecord({ id, exitCode = 0, reason, message, startedAt, finishedAt }: RuntimeContainerStatus): WireTerminated {
  const end: WireTerminated = { exitCode };
  if (reason) end.reason = reason;
  if (message) end.message = message;
  if (id) end.containerID = id;
  return { ...end, ...timeMember('startedAt', startedAt), ...timeMember('finishedAt', finishedAt) };
}

/** The runtime forgets containers that were removed for a restart in place, so that only the old status knows of their end. */
function lastStateOf({ id }: RuntimeContainerStatus, old: WireContainerStatus | undefined): WireContainerState {
  const reported = old?.state?.terminated;
  const terminated = reported && (old.containerID ?? '') !== id ? reported : old?.lastState?.terminated;
  return terminated === undefined ? {} : { terminated: { ...terminated } };
}

function timeMember<K extends string>(key: K, ms: number | undefined): { [P in K]?: string } {
  return ms === undefined ? {} : ({ [key]: formatTime(ms) } as { [P in K]: string });
}
