import jsonPatch, { type Operation } from 'fast-json-patch';
import { isJsonObject } from '../../api/json/json.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import type { PatchSchema } from '../../api/patch/patch-schemas.ts';
import { applyStrategicMergePatch } from '../../api/patch/strategic-merge-patch.ts';
import { apiStatus, badRequest, StoreError, unforeseen, unprocessable } from './api-status.ts';

/** The patch formats of the API. */
export type ObjectPatchType =
  | 'application/strategic-merge-patch+json'
  | 'application/merge-patch+json'
  | 'application/json-patch+json';

export const patchTypes: readonly ObjectPatchType[] = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

/** JSON Merge Patch, RFC 7386: null removes, objects merge, everything else replaces. */
function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

/** Go's library accepts what RFC 6902 refuses: `replace` adds a missing member, and `test` for null passes (undefined). */
function forgiven(document: Json, operation: Operation): Operation | undefined {
  if (operation.op !== 'replace' && operation.op !== 'test') return operation;
  const at = operation.path.lastIndexOf('/');
  const parent: unknown = at < 0 ? undefined : jsonPatch.getValueByPointer(document, operation.path.slice(0, at));
  const key = operation.path
    .slice(at + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
  if (!isJsonObject(parent) || Object.hasOwn(parent, key)) return operation;
  if (operation.op === 'replace') return { ...operation, op: 'add' };
  return operation.value === null ? undefined : operation;
}

function applyOperations(document: Json, operations: readonly Operation[]): Json {
  let result = document;
  try {
    for (const each of operations) {
      const operation = forgiven(result, each);
      // Validated against the document: a failed `test` and a path that is not there are errors.
      if (operation !== undefined) result = jsonPatch.applyOperation(result, operation, true, false).newDocument;
    }
  } catch {
    throw unprocessable();
  }
  return result;
}

const notAnObject = 'json: cannot unmarshal array into Go value of type map[string]interface {}';

/** A schema of undefined: the resource has no strategic merge, as custom resources have none. */
function applied(object: JsonObject, type: ObjectPatchType, body: Json, schema: PatchSchema | undefined): Json {
  if (type === 'application/json-patch+json') {
    if (Array.isArray(body)) return applyOperations(structuredClone(object), structuredClone(body) as unknown as Operation[]);
    throw badRequest('error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp');
  }
  if (type === 'application/merge-patch+json') {
    if (!isJsonObject(body)) throw badRequest(`error decoding patch: ${notAnObject}`);
    return mergePatch(object, body);
  }
  if (schema === undefined) throw new StoreError(noStrategicMerge);
  if (!isJsonObject(body)) throw badRequest(notAnObject);
  try {
    return applyStrategicMergePatch(structuredClone(object), structuredClone(body), schema);
  } catch (error) {
    throw unforeseen(error instanceof Error ? error.message : String(error));
  }
}

const noStrategicMerge = apiStatus(
  415,
  'UnsupportedMediaType',
  'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
);

/** The object after the patch; `object` itself is not changed. Throws the server's answer as a {@link StoreError}. */
export function applyPatch(object: JsonObject, type: ObjectPatchType, body: Json, schema: PatchSchema | undefined): JsonObject {
  const result = applied(object, type, body, schema);
  if (!isJsonObject(result)) throw unprocessable();
  return result;
}
