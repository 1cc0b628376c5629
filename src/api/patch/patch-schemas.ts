// Facts of the v1 Pod's published patch strategies and of its JSON encoding, Kubernetes 1.36.
import { type IsAbsent, nullIsAbsent } from '../json/json.ts';

/** How one member is patched. Without a strategy a list is replaced whole; an object is always merged. */
export interface PatchField {
  /** `merge`: elements are matched by `mergeKey`, or by value when there is none (lists of strings). */
  readonly strategy?: 'merge';
  readonly mergeKey?: string;
  /** A patch of an element names the members to keep; the others go. */
  readonly retainKeys?: true;
  /** The members of this object, or of each element of this list. */
  readonly members?: PatchSchema;
}

export interface PatchSchema {
  readonly fields: Readonly<Record<string, PatchField>>;
  /** Which members mean the same as absent ones when two objects of this kind are compared. */
  readonly isAbsent: IsAbsent;
  /** Members that the API's encoder writes as null where they have no value. */
  readonly nullMembers?: readonly string[];
}

const plain: PatchSchema = { fields: {}, isAbsent: nullIsAbsent };

/** An object whose members are merged, but for those named here. */
export function struct(fields: Readonly<Record<string, PatchField>>): PatchSchema {
  return { fields, isAbsent: nullIsAbsent };
}

/** A list whose elements are matched by one of their members. */
export function mergeBy(mergeKey: string, members: PatchSchema = plain): PatchField {
  return { strategy: 'merge', mergeKey, members };
}

function mergeAndRetainKeys(mergeKey: string, members: PatchSchema = plain): PatchField {
  return { ...mergeBy(mergeKey, members), retainKeys: true };
}

const metadataSchema = struct({ ownerReferences: mergeBy('uid'), finalizers: { strategy: 'merge' } });

const containers = mergeBy(
  'name',
  struct({
    ports: mergeBy('containerPort'),
    env: mergeBy('name'),
    volumeMounts: mergeBy('mountPath'),
    volumeDevices: mergeBy('devicePath'),
  }),
);

const specSchema = struct({
  containers,
  initContainers: containers,
  ephemeralContainers: containers,
  volumes: mergeAndRetainKeys('name'),
  imagePullSecrets: mergeBy('name'),
  hostAliases: mergeBy('ip'),
  topologySpreadConstraints: mergeBy('topologyKey'),
  schedulingGates: mergeBy('name'),
  resourceClaims: mergeAndRetainKeys('name'),
});

/** Pointers in the API: their zero values are values. */
const optionalStatusMembers: ReadonlySet<string> = new Set(['started', 'resourceClaimName', 'recursiveReadOnly', 'stopSignal']);
/** Objects that are always there in the API, so that an empty one says nothing. */
const alwaysPresentStatusObjects: ReadonlySet<string> = new Set([
  'state',
  'lastState',
  'allocatedResources',
  'limits',
  'requests',
]);

/** A zero value in a status means the same as no value, as the API's encoder leaves out the one or fills in the other. */
export const isAbsentInStatus: IsAbsent = (key, value) => {
  if (value === null) return true;
  if (value === '' || value === false || value === 0) return !optionalStatusMembers.has(key);
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.length === 0;
  return (
    alwaysPresentStatusObjects.has(key) && Object.keys(value).every((inner) => isAbsentInStatus(inner, value[inner] ?? null))
  );
};

const statusElement: PatchSchema = { fields: {}, isAbsent: isAbsentInStatus };

/** Container status lists have no merge key: they are replaced whole, with everything in them. */
export const podStatusSchema: PatchSchema = {
  fields: {
    conditions: mergeBy('type', { ...statusElement, nullMembers: ['lastProbeTime', 'lastTransitionTime'] }),
    podIPs: mergeBy('ip', statusElement),
    hostIPs: mergeBy('ip', statusElement),
    resourceClaimStatuses: mergeAndRetainKeys('name', statusElement),
  },
  isAbsent: isAbsentInStatus,
};

/** The schema of what stands under `key`; kinds without a strategy inside need no entry. */
export function schemaOfMember(schema: PatchSchema, key: string): PatchSchema {
  return fieldOf(schema, key)?.members ?? { fields: {}, isAbsent: schema.isAbsent };
}

/** How the member `key` is patched. A member named like something on Object.prototype has no field of its own. */
export function fieldOf({ fields }: PatchSchema, key: string): PatchField | undefined {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

export const podSchema: PatchSchema = struct({
  metadata: { members: metadataSchema },
  spec: { members: specSchema },
  status: { members: podStatusSchema },
});

/** The metadata of every kind. */
export const metadataPatch: PatchField = {
  members: struct({ ownerReferences: mergeBy('uid'), finalizers: { strategy: 'merge' } }),
};

// Facts of the v1 Node's published patch strategies, Kubernetes 1.36.

export const nodeSchema: PatchSchema = struct({
  metadata: metadataPatch,
  spec: { members: struct({ podCIDRs: { strategy: 'merge' } }) },
  status: { members: struct({ conditions: mergeBy('type'), addresses: mergeBy('type') }) },
});
