import { containerStatusLists } from '../../api/json/status-members.ts';
import type { WireContainerStatus, WirePodCondition, WirePodStatus } from '../../api/json/types.ts';
import { invalidArgument } from '../../base/errors.ts';
import { conditionShape, containerShape, type Misfit, statusShape } from './status-shapes.ts';

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

const phases: ReadonlySet<unknown> = new Set([undefined, 'Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']);
const phaseRule = 'Pending, Running, Succeeded, Failed, Unknown or empty';

/**
 * Throws ERR_INVALID_ARGUMENT for a status that an agent must not set: a phase that Kubernetes does not have, a container
 * without a name or named twice in one list, a container id that is no `type://id`, and a member that Kubernetes 1.36 knows
 * with a value of another type, such as a restart count that is no whole number, or an address that is no object.
 * An empty or absent phase is fine, as for the kubelet. `status` is canonical. What `previous` has in the same place is
 * in the cache already, and not looked at again.
 */
export function requireStatus(status: WirePodStatus, previous?: WirePodStatus): void {
  if (!phases.has(status.phase)) throw invalidArgument('status.phase', phaseRule, status.phase);
  if (status.conditions !== undefined && status.conditions !== previous?.conditions) {
    requireConditions(status.conditions, previous?.conditions);
  }
  for (const list of containerStatusLists) {
    const statuses = status[list];
    if (statuses !== undefined && statuses !== previous?.[list]) requireContainers(`status.${list}`, statuses, previous?.[list]);
  }
  const misfit = statusShape(status, previous);
  if (misfit !== undefined) throw notOfShape('status', misfit);
}

function notOfShape(path: string, misfit: Misfit): Error {
  return invalidArgument(`${path}${misfit.path}`, misfit.rule, misfit.value);
}

function requireConditions(conditions: readonly WirePodCondition[], previous: readonly WirePodCondition[] | undefined): void {
  for (let i = 0; i < conditions.length; i++) {
    const misfit = conditions[i] === previous?.[i] ? undefined : conditionShape(conditions[i], previous?.[i]);
    if (misfit !== undefined) throw notOfShape(`status.conditions[${i}]`, misfit);
  }
}

function requireContainers(
  path: string,
  statuses: readonly WireContainerStatus[],
  previous: readonly WireContainerStatus[] | undefined,
): void {
  // most pods have few containers
  const names = statuses.length > 8 ? new Set(statuses.map(({ name }) => name)) : undefined;
  for (let i = 0; i < statuses.length; i++) {
    const { name, containerID } = statuses[i] as WireContainerStatus;
    const again = names === undefined ? indexOfName(statuses, name) !== i : !names.delete(name);
    if (again || name === '') throw invalidArgument(path, 'a list that names each container once', name);
    const before = previous?.[i];
    if (statuses[i] === before) continue;
    if (containerID !== undefined && containerID !== before?.containerID && !isContainerID(containerID)) {
      throw notAContainerID(`${path}[${name}].containerID`, containerID);
    }
    const misfit = containerShape(statuses[i], before);
    if (misfit !== undefined) throw notOfShape(`${path}[${name}]`, misfit);
  }
}

function indexOfName(statuses: readonly WireContainerStatus[], name: string): number {
  let index = 0;
  while (index < statuses.length && statuses[index]?.name !== name) index++;
  return index;
}
