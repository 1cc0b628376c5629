import type { PodStatus } from '../../api/json/types.ts';
import type { RuntimePodStatus } from '../../api/pod/runtime-pod.ts';

/**
 * The same, with the termination messages that the pod's status has already for ends of which no message can be read any more: the
 * files are gone once the pod has been cleaned up after, but an agent that begins anew still sees its containers.
 */
export function withKeptMessages<Status extends RuntimePodStatus>(status: Status, told: PodStatus | undefined): Status {
  const messages = new Map<string, string>();
  const lists = [told?.containerStatuses, told?.initContainerStatuses, told?.ephemeralContainerStatuses];
  for (const { state, lastState } of lists.flatMap((list) => list ?? [])) {
    for (const end of [state?.terminated, lastState?.terminated]) {
      if (end?.containerID && end.message) messages.set(end.containerID, end.message);
    }
  }
  if (messages.size === 0) return status;
  const containers = status.containers.map((container) => {
    const message = container.state === 'exited' && !container.message ? messages.get(container.id) : undefined;
    return message === undefined ? container : { ...container, message };
  });
  return { ...status, containers };
}
