import jsonPatch from 'fast-json-patch';
import { applyPodPatch } from '../api/strategic-merge-patch.ts';
import type { Json, JsonObject } from '../api/wire.ts';
import { badRequest, StoreError, unprocessable } from './api-status.ts';
import { isJsonObject } from './json-fields.ts';

/** The patch formats a pods API takes. */
export type PodPatchType =
  | 'application/strategic-merge-patch+json'
  | 'application/merge-patch+json'
  | 'application/json-patch+json';

export const podPatchTypes: readonly PodPatchType[] = [
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

function jsonPatchOperations(document: JsonObject, operations: Json): Json {
  if (!Array.isArray(operations)) throw badRequest('json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  try {
    // Validated against the document: a failed `test` and a path that is not there are errors, as on the server.
    return jsonPatch.applyPatch(document, structuredClone(operations) as never, true, false).newDocument as Json;
  } catch {
    throw unprocessable();
  }
}

function applied(pod: JsonObject, type: PodPatchType, body: Json): Json {
  if (type === 'application/json-patch+json') return jsonPatchOperations(structuredClone(pod), body);
  if (!isJsonObject(body)) throw badRequest('invalid JSON document');
  if (type === 'application/merge-patch+json') return mergePatch(pod, body);
  try {
    return applyPodPatch(structuredClone(pod), structuredClone(body));
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw badRequest(error instanceof Error ? error.message : String(error));
  }
}

/** The pod after the patch; the pod itself stays as it is. Throws a {@link StoreError}, as the server would answer. */
export function applyPatch(pod: JsonObject, type: PodPatchType, body: Json): JsonObject {
  const result = applied(pod, type, body);
  if (!isJsonObject(result)) throw unprocessable();
  return result;
}
