import { isJsonObject } from '../../api/json/json.ts';
import { containerStatusLists } from '../../api/json/status-members.ts';
import type { JsonObject, WireContainerStatus, WirePodCondition, WirePodStatus } from '../../api/json/types.ts';
import { isContainerID } from '../../api/pod/pod-containers.ts';
import { invalidArgument } from '../../base/errors.ts';
import { isInt32 } from '../../base/options.ts';

export function requireContainerID(path: string, value: unknown): void {
  if (!isContainerID(value)) throw notAContainerID(path, value);
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

// The types of the members of a pod's status: k8s.io/api v0.36.3 (Kubernetes 1.36). Members that are not here are not looked at.

/** What is wrong in a value, and where in it. */
interface Misfit {
  /** Such as `.linux.uid`; empty for the value itself. */
  readonly path: string;
  readonly rule: string;
  readonly value: unknown;
}

/**
 * Says what is wrong in a value; undefined where nothing is. An object that `before` has in the same place was checked then, and is
 * skipped. A path is made only where something is wrong.
 */
export type Shape = (value: unknown, before?: unknown) => Misfit | undefined;

const misfit = (rule: string, value: unknown): Misfit => ({ path: '', rule, value });

const text: Shape = (value) => (typeof value === 'string' ? undefined : misfit('a string', value));
const bool: Shape = (value) => (typeof value === 'boolean' ? undefined : misfit('a boolean', value));
const int32: Shape = (value) => (isInt32(value) ? undefined : misfit('a whole number of 32 bits', value));
const count: Shape = (value) => (isInt32(value, 0) ? undefined : misfit('a whole number of 32 bits, 0 or more', value));
const int64: Shape = (value) => (Number.isSafeInteger(value) ? undefined : misfit('a whole number', value));

function listOf(shape: Shape): Shape {
  return (value) => {
    if (!Array.isArray(value)) return misfit('a list', value);
    for (let i = 0; i < value.length; i++) {
      const inner = shape(value[i]);
      if (inner !== undefined) return { ...inner, path: `[${i}]${inner.path}` };
    }
    return undefined;
  };
}

function mapOf(shape: Shape): Shape {
  return (value) => {
    if (!isJsonObject(value)) return misfit('an object', value);
    for (const name of Object.keys(value)) {
      const inner = shape(value[name]);
      if (inner !== undefined) return { ...inner, path: `.${name}${inner.path}` };
    }
    return undefined;
  };
}

/** A member that is not in `of` may be anything, and every member but `required` may be absent. */
function members(of: Readonly<Record<string, Shape>>, required?: string): Shape {
  const known = new Map(Object.entries(of));
  return (value, before) => {
    if (!isJsonObject(value)) return misfit('an object', value);
    if (required !== undefined && !Object.hasOwn(value, required))
      return { path: `.${required}`, rule: 'given', value: undefined };
    for (const name in value) {
      const shape = known.get(name);
      if (shape === undefined) continue;
      const member = value[name];
      const same = typeof member === 'object' ? (before as JsonObject | undefined)?.[name] : undefined;
      const inner = member === same ? undefined : shape(member, same);
      if (inner !== undefined) return { ...inner, path: `.${name}${inner.path}` };
    }
    return undefined;
  };
}

const quantities = mapOf(text);
const resources = members({
  limits: quantities,
  requests: quantities,
  claims: listOf(members({ name: text, request: text })),
});
const state = members({
  waiting: members({ reason: text, message: text }),
  running: members({ startedAt: text }),
  terminated: members({
    exitCode: int32,
    signal: int32,
    reason: text,
    message: text,
    containerID: text,
    startedAt: text,
    finishedAt: text,
  }),
});
const addresses = listOf(members({ ip: text }, 'ip'));

/** A condition in canonical form. */
const conditionShape = members({ status: text, reason: text, message: text, observedGeneration: int64 });

/** The status of one container in canonical form. */
const containerShape = members({
  restartCount: count,
  state,
  lastState: state,
  started: bool,
  stopSignal: text,
  resources,
  allocatedResources: quantities,
  allocatedResourcesStatus: listOf(
    members({ name: text, resources: listOf(members({ resourceID: text, health: text, message: text })) }),
  ),
  user: members({ linux: members({ uid: int64, gid: int64, supplementalGroups: listOf(int64) }) }),
  volumeMounts: listOf(
    members({
      name: text,
      mountPath: text,
      readOnly: bool,
      recursiveReadOnly: text,
      volumeStatus: members({ image: members({ imageRef: text }) }),
    }),
  ),
});

/** The members of a status in canonical form that hold neither conditions nor containers. */
const statusShape = members({
  reason: text,
  message: text,
  nominatedNodeName: text,
  hostIP: text,
  podIP: text,
  qosClass: text,
  resize: text,
  podIPs: addresses,
  hostIPs: addresses,
  resources,
  allocatedResources: quantities,
});
