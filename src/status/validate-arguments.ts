import { invalidArgument } from '../errors.ts';
import type { Pod, WirePodStatus } from '../wire/types.ts';

const containerIDPattern = /^[^:/\s]+:\/\/\S+$/;

/** The pod's uid. Throws ERR_INVALID_ARGUMENT unless uid, name and namespace are there. */
export function requirePod(pod: Pod): string {
  if (typeof pod !== 'object' || pod === null) throw invalidArgument('pod', 'an object', pod);
  const { uid, name, namespace } = pod.metadata ?? {};
  requireText('pod.metadata.uid', uid);
  requirePathSegment('pod.metadata.name', name);
  requirePathSegment('pod.metadata.namespace', namespace);
  return String(uid);
}

export function requireText(path: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') throw invalidArgument(path, 'a non-empty string', value);
}

/** Reason and message of a condition, which may be empty, and a generation. */
export function requireConditionFields(reason: unknown, message: unknown, observedGeneration: unknown): void {
  if (typeof reason !== 'string') throw invalidArgument('reason', 'a string', reason);
  if (typeof message !== 'string') throw invalidArgument('message', 'a string', message);
  if (!Number.isSafeInteger(observedGeneration) || Number(observedGeneration) < 0) {
    throw invalidArgument('observedGeneration', 'a whole number, 0 or more', observedGeneration);
  }
}

/** A name that stands in a request's path: the apiserver takes no slash or percent sign in it, nor `.` or `..`. */
function requirePathSegment(path: string, value: unknown): void {
  requireText(path, value);
  const text = String(value);
  if (text === '.' || text === '..' || text.includes('/') || text.includes('%')) {
    throw invalidArgument(path, 'a name without "/" and "%", neither "." nor ".."', value);
  }
}

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
