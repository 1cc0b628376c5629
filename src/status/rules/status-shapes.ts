// The types of the members of a pod's status: k8s.io/api v0.36.3 (Kubernetes 1.36). Members that are not here are not looked at.

import { isJsonObject } from '../../api/json/json.ts';
import type { JsonObject } from '../../api/json/types.ts';
import { isInt32 } from '../../base/options.ts';

/** What is wrong in a value, and where in it. */
export interface Misfit {
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
export const conditionShape = members({ status: text, reason: text, message: text, observedGeneration: int64 });

/** The status of one container in canonical form. */
export const containerShape = members({
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
export const statusShape = members({
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
