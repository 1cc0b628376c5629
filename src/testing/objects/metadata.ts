import { isJsonObject } from '../../api/json/json.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import { qualifiedNameProblems, subdomainProblem } from './api-names.ts';
import { forbiddenChange, invalidValue, requiredValue, type StatusCause } from './api-status.ts';
import { goTypeOf, objectAt, objectsAt, ShapeError, textAt, textsAt, without } from './selectors.ts';

// The rules for the metadata of objects of any resource.

/** A map of texts. Throws a `ShapeError` for a value that is no text; null is empty text. */
export function textMap(field: string, value: Json | undefined, wanted = 'string'): Record<string, string> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) throw mismatch(field, value, `map[string]${wanted}`);
  const entries = Object.entries(value).map(([name, each]): [string, string] => {
    if (each !== null && typeof each !== 'string') throw mismatch(field, each, wanted);
    return [name, each ?? ''];
  });
  return Object.fromEntries(entries);
}

export function mismatch(field: string, value: Json, wanted: string): ShapeError {
  return new ShapeError(`json: cannot unmarshal ${goTypeOf(value)} into Go struct field ${field} of type ${wanted}`);
}

/** The metadata of an object. Throws a `ShapeError` for anything but an object; none is an empty one. */
export function metadataOf({ metadata }: JsonObject, kind: string): JsonObject {
  if (metadata === undefined || metadata === null) return {};
  if (isJsonObject(metadata)) return metadata;
  throw mismatch(`${kind}.metadata`, metadata, 'v1.ObjectMeta');
}

/** True for a value that the API's encoder leaves out of an object. */
export function isEmptyValue(value: Json | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (Array.isArray(value) && value.length === 0) ||
    (isJsonObject(value) && Object.keys(value).length === 0)
  );
}

/**
 * The metadata without empty members and without those that the server never stores. Throws a `ShapeError` for a label
 * or an annotation that is no text.
 */
export function withTidyMetadata(metadata: JsonObject): JsonObject {
  const shaped = {
    ...metadata,
    labels: textMap('ObjectMeta.metadata.labels', metadata.labels) ?? null,
    annotations: textMap('ObjectMeta.metadata.annotations', metadata.annotations) ?? null,
  };
  return Object.fromEntries(
    Object.entries(shaped).filter(([key, value]) => key !== 'managedFields' && key !== 'selfLink' && !isEmptyValue(value)),
  );
}

/** The metadata of a new object as far as a client may set it: only a DELETE begins a deletion. */
export function newMetadata(metadata: JsonObject): JsonObject {
  return without(withTidyMetadata(metadata), 'deletionTimestamp', 'deletionGracePeriodSeconds', 'resourceVersion');
}

/** The metadata of an update with the stored values of the members that no client can write. */
export function withServerMetadata(given: JsonObject, old: JsonObject, fillIns: boolean): JsonObject {
  const metadata: JsonObject = fillIns ? withTidyMetadata(given) : { ...given };
  for (const key of ['resourceVersion', 'creationTimestamp', 'generation', 'uid', 'namespace', 'name']) {
    const isGiven = metadata[key] !== undefined && metadata[key] !== null && metadata[key] !== '';
    const isIdentity = key === 'uid' || key === 'namespace' || key === 'name';
    if (isIdentity && isGiven) continue;
    if (old[key] === undefined) delete metadata[key];
    else metadata[key] = old[key];
  }
  if (old.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
  return metadata;
}

const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const labelValueRule = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${labelValue.source.slice(1, -1)}')`;
const maxAnnotationBytes = 256 * 1024;

function labelCauses(labels: JsonObject): StatusCause[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const problems = qualifiedNameProblems(key).map((problem) => invalidValue('metadata.labels', key, problem));
    const text = String(value);
    if (text.length > 63) problems.push(invalidValue('metadata.labels', text, 'must be no more than 63 bytes'));
    if (!labelValue.test(text)) problems.push(invalidValue('metadata.labels', text, labelValueRule));
    return problems;
  });
}

function annotationCauses(annotations: JsonObject): StatusCause[] {
  const field = 'metadata.annotations';
  const causes = Object.keys(annotations).flatMap((key) =>
    qualifiedNameProblems(key.toLowerCase()).map((problem) => invalidValue(field, key, problem)),
  );
  const bytes = Object.entries(annotations).reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0);
  if (bytes <= maxAnnotationBytes) return causes;
  const message = `Too long: may not be more than ${maxAnnotationBytes} bytes`;
  return [...causes, { reason: 'FieldValueTooLong', message, field }];
}

/** An owner needs a version, a kind, a name and a uid, and only one owner is the controller. */
function ownerCauses(value: Json | undefined, owners: readonly JsonObject[]): StatusCause[] {
  const field = 'metadata.ownerReferences';
  const causes: StatusCause[] = [];
  for (const owner of owners) {
    const parts = textAt(owner, 'apiVersion').split('/');
    if (parts.length > 2 || parts.at(-1) === '')
      causes.push(invalidValue(`${field}.apiVersion`, textAt(owner, 'apiVersion'), 'version must not be empty'));
    for (const key of ['kind', 'name', 'uid']) {
      if (textAt(owner, key) === '') causes.push(invalidValue(`${field}.${key}`, '', 'must not be empty'));
    }
  }
  const [first, second] = owners.filter(({ controller }) => controller === true).map(({ kind, name }) => `${kind}/${name}`);
  if (second === undefined) return causes;
  const why = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`;
  return [...causes, invalidValue(field, value, why)];
}

function finalizerCauses(finalizers: readonly string[], allowsBare: boolean): StatusCause[] {
  const field = 'metadata.finalizers';
  const known = ['kubernetes', 'orphan', 'foregroundDeletion'];
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  const causes = finalizers.flatMap((finalizer, index) => {
    const problems = qualifiedNameProblems(finalizer).map((problem) => invalidValue(field, finalizer, problem));
    const isBare = !allowsBare && problems.length === 0 && !finalizer.includes('/') && !known.includes(finalizer);
    return isBare ? [invalidValue(`${field}[${index}]`, finalizer, why)] : problems;
  });
  if (!finalizers.includes('orphan') || !finalizers.includes('foregroundDeletion')) return causes;
  return [...causes, invalidValue(field, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set')];
}

/** The rules that the name of a new object breaks, and the prefix that it may be made from; empty when they break none. */
export function nameCauses(
  metadata: JsonObject,
  problemOf: (name: string) => string | undefined = subdomainProblem,
): StatusCause[] {
  const [name, prefix] = [textAt(metadata, 'name'), textAt(metadata, 'generateName')];
  const causes: StatusCause[] = [];
  // A prefix may end in a dash, since more follows.
  const prefixProblem = prefix === '' ? undefined : problemOf(prefix.replace(/.-$/, 'a'));
  if (prefixProblem !== undefined) causes.push(invalidValue('metadata.generateName', prefix, prefixProblem));
  if (name === '') return [...causes, requiredValue('metadata.name', 'name or generateName is required')];
  const problem = problemOf(name);
  return problem === undefined ? causes : [...causes, invalidValue('metadata.name', name, problem)];
}

/** The rules that labels, annotations and owners break. */
function contentCauses(metadata: JsonObject): StatusCause[] {
  return [
    ...labelCauses(objectAt(metadata, 'labels')),
    ...annotationCauses(objectAt(metadata, 'annotations')),
    ...ownerCauses(metadata.ownerReferences, objectsAt(metadata, 'ownerReferences')),
  ];
}

/**
 * The rules that the metadata of a new object breaks, beside those for its name; empty when it breaks none. A bare
 * finalizer has no domain.
 */
export function newMetadataCauses(metadata: JsonObject, allowsBareFinalizers = false): StatusCause[] {
  return [...contentCauses(metadata), ...finalizerCauses(textsAt(metadata, 'finalizers'), allowsBareFinalizers)];
}

/** The rules that an update of metadata breaks, whether of an object or of its status. */
export function metadataUpdateCauses(metadata: JsonObject, old: JsonObject): StatusCause[] {
  const causes = [...immutableErrors(metadata, old), ...contentCauses(metadata)];
  // A kube-apiserver checks this twice, and lists it twice.
  return [...causes, ...causes];
}

/** Even a store that validates nothing refuses another object's uid: it is a precondition, not a rule about contents. */
export function identityCauses(metadata: JsonObject, old: JsonObject): StatusCause[] {
  return metadata.uid === old.uid ? [] : [invalidValue('metadata.uid', metadata.uid, 'field is immutable')];
}

function immutableErrors(metadata: JsonObject, old: JsonObject): StatusCause[] {
  const causes: StatusCause[] = [];
  const added = textsAt(metadata, 'finalizers').filter((finalizer) => !textsAt(old, 'finalizers').includes(finalizer));
  if (old.deletionTimestamp !== undefined && added.length > 0) {
    const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
    const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
    causes.push(forbiddenChange('metadata.finalizers', why));
  }
  for (const key of ['name', 'namespace', 'uid', 'deletionTimestamp', 'deletionGracePeriodSeconds']) {
    if (metadata[key] !== old[key]) causes.push(invalidValue(`metadata.${key}`, metadata[key], 'field is immutable'));
  }
  return causes;
}
