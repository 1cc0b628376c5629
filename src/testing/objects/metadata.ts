import { isJsonObject } from '../../api/json/json.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import { goTypeOf, ShapeError, without } from './json-fields.ts';

// The rules for the metadata of objects of any resource.

/** Labels or annotations. Throws a `ShapeError` for a value that is no text; null is empty text. */
function textMap(value: Json | undefined, key: string): Json | undefined {
  if (value === undefined || value === null) return undefined;
  const field = `ObjectMeta.metadata.${key}`;
  if (!isJsonObject(value)) throw mismatch(field, value, 'map[string]string');
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (each !== null && typeof each !== 'string') throw mismatch(field, each, 'string');
      return [name, each ?? ''];
    }),
  );
}

function mismatch(field: string, value: Json, wanted: string): ShapeError {
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
    labels: textMap(metadata.labels, 'labels') ?? null,
    annotations: textMap(metadata.annotations, 'annotations') ?? null,
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
