import type { RuntimeEvent, RuntimeHealth } from '../../runtime/runtime-health.ts';
import { type ContainerEventResponse, ContainerEventType, type StatusResponse } from '../proto/api_pb.ts';
import { containerDetails } from './container-answer.ts';
import { msOf } from './numbers.ts';
import { sandboxDetails } from './sandbox-answer.ts';

/** What the runtime says of itself. */
export function healthOf({ status, runtimeHandlers, features }: StatusResponse): RuntimeHealth {
  return {
    conditions: (status?.conditions ?? []).map(({ type, status, reason, message }) => ({ type, status, reason, message })),
    handlers: runtimeHandlers.map(({ name, features }) => ({
      name,
      recursiveReadOnlyMounts: features?.recursiveReadOnlyMounts ?? false,
      userNamespaces: features?.userNamespaces ?? false,
    })),
    features: { supplementalGroupsPolicy: features?.supplementalGroupsPolicy ?? false },
  };
}

/** What happened; undefined for what this version of CRI does not know. */
export function eventOf(answer: ContainerEventResponse): RuntimeEvent | undefined {
  const type = typeOf(answer.containerEventType);
  if (type === undefined) return undefined;
  const { containerId: containerID, podSandboxStatus, containersStatuses } = answer;
  const sandbox = podSandboxStatus && sandboxDetails(podSandboxStatus);
  const event = { type, containerID, at: msOf(answer.createdAt), podUID: sandbox?.metadata.uid ?? '' };
  if (sandbox === undefined) return event;
  return { ...event, sandbox, containers: containersStatuses.map((status) => containerDetails(status, sandbox.id)) };
}

function typeOf(type: ContainerEventType): RuntimeEvent['type'] | undefined {
  switch (type) {
    case ContainerEventType.CONTAINER_CREATED_EVENT:
      return 'created';
    case ContainerEventType.CONTAINER_STARTED_EVENT:
      return 'started';
    case ContainerEventType.CONTAINER_STOPPED_EVENT:
      return 'stopped';
    case ContainerEventType.CONTAINER_DELETED_EVENT:
      return 'deleted';
    default:
      return undefined;
  }
}
