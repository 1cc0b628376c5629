// The types of the members of a pod's status: k8s.io/api v0.36.3 (Kubernetes 1.36). Members that are not here are not looked at.
import { isInt32 } from '../../checks/arguments.ts';

/** What a value has to be. */
export type Shape =
  | { readonly rule: string; readonly holds: (value: unknown) => boolean }
  | { readonly listOf: Shape }
  | { readonly mapOf: Shape }
  | { readonly members: ReadonlyMap<string, Shape>; readonly required?: string };

/** What is wrong in a value, and where in it. */
export interface Misfit {
  /** Such as `.linux.uid`; empty for the value itself. */
  readonly path: string;
  readonly rule: string;
  readonly value: unknown;
}

const text: Shape = { rule: 'a string', holds: (value) => typeof value === 'string' };
const bool: Shape = { rule: 'a boolean', holds: (value) => typeof value === 'boolean' };
const int32: Shape = { rule: 'a whole number of 32 bits', holds: (value) => isInt32(value) };
const count: Shape = { rule: 'a whole number of 32 bits, 0 or more', holds: (value) => isInt32(value, 0) };
const int64: Shape = { rule: 'a whole number', holds: Number.isSafeInteger };

function members(of: Readonly<Record<string, Shape>>, required?: string): Shape {
  return { members: new Map(Object.entries(of)), ...(required !== undefined && { required }) };
}

const quantities: Shape = { mapOf: text };
const resources = members({
  limits: quantities,
  requests: quantities,
  claims: { listOf: members({ name: text, request: text }) },
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
const addresses: Shape = { listOf: members({ ip: text }, 'ip') };

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
  allocatedResourcesStatus: {
    listOf: members({ name: text, resources: { listOf: members({ resourceID: text, health: text, message: text }) } }),
  },
  user: members({ linux: members({ uid: int64, gid: int64, supplementalGroups: { listOf: int64 } }) }),
  volumeMounts: {
    listOf: members({
      name: text,
      mountPath: text,
      readOnly: bool,
      recursiveReadOnly: text,
      volumeStatus: members({ image: members({ imageRef: text }) }),
    }),
  },
});

/** The members of a status in canonical form that hold neither conditions nor containers. */
export const statusShapes: ReadonlyMap<string, Shape> = new Map([
  ...['reason', 'message', 'nominatedNodeName', 'hostIP', 'podIP', 'qosClass', 'resize'].map((name): [string, Shape] => [
    name,
    text,
  ]),
  ['podIPs', addresses],
  ['hostIPs', addresses],
  ['resources', resources],
  ['allocatedResources', quantities],
]);

/** Undefined where the value has the shape. An absent member is none that is wrong. A path is made only where something is. */
export function misfitOf(shape: Shape, value: unknown): Misfit | undefined {
  if ('holds' in shape) return shape.holds(value) ? undefined : { path: '', rule: shape.rule, value };
  if ('listOf' in shape) return misfitInList(shape.listOf, value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { path: '', rule: 'an object', value };
  return 'mapOf' in shape ? misfitInMap(shape.mapOf, value) : misfitInMembers(shape, value);
}

function misfitInList(shape: Shape, value: unknown): Misfit | undefined {
  if (!Array.isArray(value)) return { path: '', rule: 'a list', value };
  for (let i = 0; i < value.length; i++) {
    const misfit = misfitOf(shape, value[i]);
    if (misfit !== undefined) return { ...misfit, path: `[${i}]${misfit.path}` };
  }
  return undefined;
}

function misfitInMap(shape: Shape, value: object): Misfit | undefined {
  for (const [name, inner] of Object.entries(value)) {
    const misfit = misfitOf(shape, inner);
    if (misfit !== undefined) return { ...misfit, path: `.${name}${misfit.path}` };
  }
  return undefined;
}

function misfitInMembers(shape: Extract<Shape, { members: unknown }>, value: object): Misfit | undefined {
  const { required } = shape;
  if (required !== undefined && !Object.hasOwn(value, required)) return { path: `.${required}`, rule: 'given', value: undefined };
  for (const name of Object.keys(value)) {
    const known = shape.members.get(name);
    const misfit = known && misfitOf(known, (value as Record<string, unknown>)[name]);
    if (misfit !== undefined) return { ...misfit, path: `.${name}${misfit.path}` };
  }
  return undefined;
}
