import { isEqualJson } from '../../api/json/json.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import type { PatchSchema } from '../../api/patch/patch-schemas.ts';
import { labelNameProblem } from '../objects/api-names.ts';
import { invalidValue, type StatusCause } from '../objects/api-status.ts';
import { decidePlainDeletion } from '../objects/deletion.ts';
import {
  identityCauses,
  isEmptyValue,
  metadataUpdateCauses,
  nameCauses,
  newMetadataCauses,
  withServerMetadata,
  withTidyMetadata,
} from '../objects/metadata.ts';
import {
  clusterFieldsBeside,
  commonFields,
  goTypeOf,
  numberAt,
  objectAt,
  type SelectableFields,
  ShapeError,
  textAt,
  without,
} from '../objects/selectors.ts';
import type { ObjectRules, StoreWriteOptions, UpdateObject } from '../objects/store-types.ts';
import { plainSchema } from './kind-patch-schemas.ts';

/** What tells one kind from another where the server treats both alike in all else. */
export interface KindTraits {
  readonly apiVersion: string;
  readonly kind: string;
  /** Default: `metadata.name` and `metadata.namespace`. */
  readonly fields?: SelectableFields;
  /** Default: only metadata has lists that are merged. */
  readonly patchSchema?: PatchSchema | undefined;
  /** The rule that a name breaks; undefined when it breaks none. Default: a lowercase subdomain. */
  readonly nameProblem?: (name: string) => string | undefined;
  /** True: a finalizer needs no domain. So it is of leases and of custom resources. */
  readonly bareFinalizers?: boolean;
  /** Default: nothing. */
  readonly blank?: JsonObject;
  readonly isCustom?: boolean;
  readonly createsOnUpdate?: boolean;
  readonly updatesNeedVersion?: boolean;
  readonly returnsDeleted?: boolean;
  /** True: there is a status subresource. Default false. */
  readonly hasStatus?: boolean;
  /** True: a client may not set the status of a new object. */
  readonly dropsNewStatus?: boolean;
  /** True: a write of the status changes nothing else, labels and finalizers included. */
  readonly statusAlone?: boolean;
  /** True: `metadata.generation` counts the changes outside of metadata and status. */
  readonly countsGeneration?: boolean;
  /** Brings the contents into the server's form. Throws a `ShapeError` for a member of the wrong type. */
  readonly shape?: (object: JsonObject) => JsonObject;
  /** What an update need not repeat is taken from the stored object. It runs before `shape`. */
  readonly carryOver?: (object: JsonObject, old: JsonObject) => JsonObject;
  /** Further changes of a new object alone. */
  readonly shapeNew?: (object: JsonObject) => JsonObject;
  /** The rules that the contents break. */
  readonly validate?: (object: JsonObject) => StatusCause[];
  /** The rules that a status breaks which is written by itself. */
  readonly validateStatus?: (object: JsonObject) => StatusCause[];
  /** The rules that a change breaks. */
  readonly validateUpdate?: (object: JsonObject, old: JsonObject) => StatusCause[];
}

const same = (object: JsonObject): JsonObject => object;
const none = (): StatusCause[] => [];

function createCauses(object: JsonObject, traits: KindTraits): StatusCause[] {
  const metadata = objectAt(object, 'metadata');
  const causes = [...nameCauses(metadata, traits.nameProblem), ...newMetadataCauses(metadata, traits.bareFinalizers)];
  return [...causes, ...(traits.validate?.(object) ?? [])];
}

/** Metadata and status do not count as a change of an object's contents. */
function contentsOf(object: JsonObject, hasStatus: boolean): JsonObject {
  return without(object, 'metadata', ...(hasStatus ? ['status'] : []));
}

function causesOf(metadata: JsonObject, old: JsonObject, { validate }: StoreWriteOptions): StatusCause[] {
  return validate ? metadataUpdateCauses(metadata, old) : identityCauses(metadata, old);
}

/** An object stored by `put` lacks what the server fills in, and filling it in is no change. It may also break any rule. */
function shapedIfPossible(object: JsonObject, shape: (object: JsonObject) => JsonObject): JsonObject {
  try {
    return shape(object);
  } catch (error) {
    if (error instanceof ShapeError) return object;
    throw error;
  }
}

function updateOf(traits: KindTraits): UpdateObject {
  const { kind, apiVersion, hasStatus = false, validate = none, validateUpdate = none } = traits;
  const { shape = same, carryOver = same } = traits;
  return (given, old, options) => {
    const oldMetadata = objectAt(old, 'metadata');
    const metadata = withServerMetadata(objectAt(given, 'metadata'), oldMetadata, options.fillIns);
    const shaped = options.fillIns ? shape(carryOver(given, old)) : given;
    const object: JsonObject = { ...shaped, kind, apiVersion, metadata };
    if (hasStatus) {
      delete object.status;
      if (old.status !== undefined) object.status = old.status;
    }
    const before = options.fillIns ? { ...shapedIfPossible(old, shape), kind, apiVersion } : old;
    const isChanged = !isEqualJson(contentsOf(object, hasStatus), contentsOf(before, hasStatus));
    if (traits.countsGeneration === true && isChanged) metadata.generation = (numberAt(oldMetadata, 'generation') ?? 0) + 1;
    const causes = causesOf(metadata, oldMetadata, options);
    if (options.validate) causes.push(...validateUpdate(object, before), ...validate(object));
    return { object: isChanged ? object : { ...old, metadata }, causes };
  };
}

function statusUpdateOf({ statusAlone = false, shape = same, validateStatus = none }: KindTraits): UpdateObject {
  return (given, old, options) => {
    const oldMetadata = objectAt(old, 'metadata');
    const sent = objectAt(given, 'metadata');
    const writable = statusAlone ? { ...oldMetadata, name: sent.name ?? null, uid: sent.uid ?? null } : sent;
    const metadata = withServerMetadata(writable, oldMetadata, options.fillIns);
    const { status } = options.fillIns ? shape({ ...old, status: given.status ?? null }) : given;
    const object: JsonObject = { ...without(old, 'status'), metadata, ...(status ? { status } : {}) };
    const causes = causesOf(metadata, oldMetadata, options);
    if (options.validate) causes.push(...validateStatus(object));
    return { object, causes };
  };
}

/** The rules of a kind without grace periods: all but pods. */
export function plainRules(traits: KindTraits): ObjectRules {
  const { kind, apiVersion, hasStatus = false, shape = same, shapeNew = same } = traits;
  const fillIn = (object: JsonObject): JsonObject => {
    const metadata = withTidyMetadata(objectAt(object, 'metadata'));
    if (traits.countsGeneration === true) metadata.generation = 1;
    const sent = traits.dropsNewStatus === true ? without(object, 'status') : object;
    return shapeNew({ ...shape(sent), kind, apiVersion, metadata });
  };
  return {
    fields: traits.fields ?? commonFields,
    patchSchema: 'patchSchema' in traits ? traits.patchSchema : plainSchema,
    blank: traits.blank ?? {},
    isCustom: traits.isCustom ?? false,
    createsOnUpdate: traits.createsOnUpdate ?? false,
    updatesNeedVersion: traits.updatesNeedVersion ?? false,
    returnsDeleted: traits.returnsDeleted ?? false,
    fillIn,
    validateCreate: (object) => createCauses(object, traits),
    update: updateOf(traits),
    updateStatus: hasStatus ? statusUpdateOf(traits) : undefined,
    decideDeletion: decidePlainDeletion,
  };
}

const layout = '2006-01-02T15:04:05.000000Z07:00';

/** A time in microseconds, as leases and events have it. Throws a `ShapeError` for one without a fraction. */
function microTime(value: Json): string {
  const match = typeof value === 'string' ? /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(.*)$/.exec(value) : null;
  const rest = match?.[1] ?? String(value);
  if (match === null || !/^\.\d{6}(?:Z|[-+]\d\d:\d\d)$/.test(rest))
    throw new ShapeError(
      `parsing time ${JSON.stringify(value)} as "${layout}": cannot parse ${JSON.stringify(rest)} as ".000000"`,
    );
  return String(value);
}

function shapeLease(lease: JsonObject): JsonObject {
  const spec: JsonObject = {};
  for (const [key, value] of Object.entries(objectAt(lease, 'spec'))) {
    if (isEmptyValue(value) && value !== '') continue;
    const isCount = key === 'leaseDurationSeconds' || key === 'leaseTransitions';
    if (isCount && !Number.isSafeInteger(value)) {
      const field = `LeaseSpec.spec.${key}`;
      throw new ShapeError(`json: cannot unmarshal ${goTypeOf(value)} into Go struct field ${field} of type int32`);
    }
    spec[key] = key === 'renewTime' || key === 'acquireTime' ? microTime(value) : value;
  }
  return { spec };
}

function validateLease(lease: JsonObject): StatusCause[] {
  const spec = objectAt(lease, 'spec');
  const [duration, transitions] = [numberAt(spec, 'leaseDurationSeconds'), numberAt(spec, 'leaseTransitions')];
  const causes: StatusCause[] = [];
  if (duration !== undefined && duration <= 0)
    causes.push(invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
  if (transitions !== undefined && transitions < 0)
    causes.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  return causes;
}

export const leaseRules: ObjectRules = plainRules({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  blank: { spec: {} },
  bareFinalizers: true,
  createsOnUpdate: true,
  updatesNeedVersion: true,
  shape: shapeLease,
  validate: validateLease,
});

const finalizers = { finalizers: ['kubernetes'] };

function withNameLabel(namespace: JsonObject): JsonObject {
  const metadata = objectAt(namespace, 'metadata');
  const labels = { ...objectAt(metadata, 'labels'), 'kubernetes.io/metadata.name': textAt(metadata, 'name') };
  return { ...namespace, metadata: { ...metadata, labels } };
}

const plain = plainRules({
  kind: 'Namespace',
  apiVersion: 'v1',
  nameProblem: labelNameProblem,
  fields: clusterFieldsBeside({
    name: (namespace) => textAt(objectAt(namespace, 'metadata'), 'name'),
    'status.phase': (namespace) => textAt(objectAt(namespace, 'status'), 'phase'),
  }),
  blank: { spec: {}, status: {} },
  returnsDeleted: true,
  hasStatus: true,
  carryOver: (namespace, old) => ({ ...namespace, spec: old.spec ?? null }),
  shapeNew: (namespace) => withNameLabel({ ...namespace, spec: finalizers, status: { phase: 'Active' } }),
});

/** A namespace keeps the label with its name, whatever a client writes. */
export const namespaceRules: ObjectRules = {
  ...plain,
  update: (given, old, options) => {
    const { object, causes } = plain.update(given, old, options);
    return { object: withNameLabel(object), causes };
  },
};
