import type { Pod } from '../../api/json/types.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { ProbeDefinition } from './probed-container.ts';

/** Writes an event about one container. Behaviour of pkg/kubelet/container GenerateContainerRef, v1.36.3. */
export function probeEvent(
  recorder: EventRecorder,
  { pod, container }: ProbeDefinition,
  reason: 'Unhealthy' | 'ProbeWarning',
  message: string,
): void {
  recorder.event(pod, 'Warning', reason, message, fieldPath(pod, container.name));
}

function fieldPath(pod: Pod, name: string): string {
  const isRegular = pod.spec?.containers.some((container) => container.name === name);
  return `spec.${isRegular ? 'containers' : 'initContainers'}{${name}}`;
}
