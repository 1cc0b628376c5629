import { invalidArgument } from '../../errors.ts';
import type { WirePodStatus } from '../../wire/types.ts';

const containerIDPattern = /^[^:/\s]+:\/\/\S+$/;

/** `type://id`, as container runtimes name containers. */
export function requireContainerID(path: string, value: unknown): void {
  if (!isContainerID(value)) throw notAContainerID(path, value);
}

function isContainerID(value: unknown): boolean {
  return typeof value === 'string' && containerIDPattern.test(value);
}

function notAContainerID(path: string, value: unknown): Error {
  return invalidArgument(path, 'of the form "type://id"', value);
}

const containerLists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

/**
 * Throws ERR_INVALID_ARGUMENT for a container named twice in one list, or a container id that is no `type://id`.
 * What `previous` has in the same place is in the cache already, and not looked at again.
 */
export function requireStatus(status: WirePodStatus, previous?: WirePodStatus): void {
  for (const list of containerLists) {
    const statuses = status[list];
    if (statuses === undefined || statuses === previous?.[list]) continue;
    // most pods have few containers
    const names = statuses.length > 8 ? new Set(statuses.map(({ name }) => name)) : undefined;
    for (const [index, { name, containerID }] of statuses.entries()) {
      const again = names === undefined ? statuses.findIndex((other) => other.name === name) !== index : !names.delete(name);
      if (again) throw invalidArgument(`status.${list}`, 'a list that names each container once', name);
      if (containerID === undefined || containerID === previous?.[list]?.[index]?.containerID) continue;
      if (!isContainerID(containerID)) throw notAContainerID(`status.${list}[${name}].containerID`, containerID);
    }
  }
}
