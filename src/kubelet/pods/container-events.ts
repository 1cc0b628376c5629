// Behaviour of recordContainerEvent in pkg/kubelet/kuberuntime, v1.36.3.
import type { Pod } from '../../api/json/types.ts';
import type { EventRecorder, EventType } from '../../client/events/event-recorder.ts';
import { containerFieldPath } from '../../node/workers/restart-backoff.ts';

/** What an event about a container says. */
export interface ContainerEvent {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  /** Is replaced by the container's name in the message, so that equal events count as one. */
  readonly containerID?: string;
}

/** Writes an event about one container of the pod. */
export function recordContainerEvent(recorder: EventRecorder, pod: Pod, containerName: string, event: ContainerEvent): void {
  const { type, reason, message, containerID } = event;
  const text = containerID ? message.replaceAll(containerID, containerName) : message;
  recorder.event(pod, type, reason, text, containerFieldPath(pod, containerName));
}
