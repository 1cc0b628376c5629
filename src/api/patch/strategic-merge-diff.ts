// Behaviour of k8s.io/apimachinery/pkg/util/strategicpatch CreateTwoWayMergePatch, v0.36.3.

import { isJsonObject, member, wireEqual } from '../json/json.ts';
import type { Json, JsonObject } from '../json/types.ts';
import { fieldOf, type PatchField, type PatchSchema, schemaOfMember } from './pod-patch-schema.ts';
import { isListOfObjects, keyBy, sortByOrder } from './strategic-merge-lists.ts';

/** The strategic merge patch that makes `next` of `old`; `{}` when nothing differs. It shares values with `next`. */
export function createStrategicMergePatch(old: JsonObject, next: JsonObject, schema: PatchSchema): JsonObject {
  return diffObjects(old, next, schema, false) ?? {};
}

/** Undefined when nothing differs, so that the common case makes no object. */
function diffObjects(old: JsonObject, next: JsonObject, schema: PatchSchema, retainKeys: boolean): JsonObject | undefined {
  if (old === next) return undefined;
  let patch: JsonObject | undefined;
  for (const key of Object.keys(next)) {
    if (key === '__proto__') continue;
    const value = next[key] ?? null;
    const before = member(old, key) ?? null;
    if (value === before) continue;
    patch = diffMember(key, before, value, schema, patch);
  }
  for (const key of Object.keys(old)) {
    if (Object.hasOwn(next, key) || schema.isAbsent(key, old[key] ?? null)) continue;
    patch ??= {};
    patch[key] = null;
  }
  if (patch !== undefined && retainKeys) patch.$retainKeys = presentKeys(next, schema).sort();
  return patch;
}

function presentKeys(object: JsonObject, { isAbsent }: PatchSchema): string[] {
  return Object.keys(object).filter((key) => !isAbsent(key, object[key] ?? null));
}

/** Adds to `patch` what turns the member `before` into `value`; makes the patch when it has something to add. */
function diffMember(
  key: string,
  before: Json,
  value: Json,
  schema: PatchSchema,
  patch: JsonObject | undefined,
): JsonObject | undefined {
  if (schema.isAbsent(key, value)) {
    return schema.isAbsent(key, before) ? patch : withMember(patch, key, null);
  }
  if (Array.isArray(value) && Array.isArray(before)) {
    const field = fieldOf(schema, key);
    if (field?.strategy === 'merge') return diffMergedList(key, before, value, { field, schema }, patch);
    return wireEqual(before, value, schema.isAbsent) ? patch : withMember(patch, key, value);
  }
  if (isJsonObject(value) && isJsonObject(before)) {
    const inner = diffObjects(before, value, schemaOfMember(schema, key), fieldOf(schema, key)?.retainKeys === true);
    return inner === undefined ? patch : withMember(patch, key, inner);
  }
  return withMember(patch, key, value);
}

/** Changes the patch, which is nobody else's yet: a copy for each member would be work that grows with their square. */
function withMember(patch: JsonObject | undefined, key: string, value: Json): JsonObject {
  const out = patch ?? {};
  out[key] = value;
  return out;
}

interface ListContext {
  readonly field: PatchField;
  readonly schema: PatchSchema;
}

function diffMergedList(
  key: string,
  old: Json[],
  next: Json[],
  { field, schema }: ListContext,
  patch: JsonObject | undefined,
): JsonObject | undefined {
  const elements = schemaOfMember(schema, key);
  if (sameElements(old, next, elements)) return patch;
  if (old.length === 0) return withMember(patch, key, next);
  if (!isListOfObjects(key, old, next)) return Object.assign(patch ?? {}, diffPrimitives(key, old, next));
  const mergeKey = field.mergeKey ?? 'name';
  const changes = diffElements(key, old, next, mergeKey, elements, field.retainKeys === true);
  const keyOf = keyBy(key, mergeKey);
  const orderSame = old.length === next.length && old.every((item, index) => keyOf(item) === keyOf(next[index] ?? null));
  if (changes.length === 0 && orderSame) return patch;
  const out: JsonObject = patch ?? {};
  if (changes.length > 0) out[key] = changes;
  if (next.length > 0) out[`$setElementOrder/${key}`] = next.map((item) => ({ [mergeKey]: keyOf(item) }));
  return out;
}

/** Lists that are equal element by element need no look at their keys, even where keys repeat. */
function sameElements(old: readonly Json[], next: readonly Json[], { isAbsent }: PatchSchema): boolean {
  return old.length === next.length && old.every((item, index) => wireEqual(item, next[index] ?? null, isAbsent));
}

/**
 * Changed and new elements in the order of `next`, then a `$patch: delete` for each dropped one. Elements with the same
 * key are matched one to one, as Go does it: the surplus ones of `old` delete the key.
 */
function diffElements(
  key: string,
  old: Json[],
  next: Json[],
  mergeKey: string,
  schema: PatchSchema,
  retainKeys: boolean,
): Json[] {
  const keyOf = keyBy(key, mergeKey);
  const [before, after] = [sortByKey(old, keyOf), sortByKey(next, keyOf)];
  const changed: Json[] = [];
  const deleted: Json[] = [];
  let i = 0;
  let previous: string | undefined;
  for (const element of after) {
    for (let dropped = before[i]; dropped !== undefined && dropped.key < element.key; dropped = before[++i]) {
      deleted.push({ [mergeKey]: keyOf(dropped.item), $patch: 'delete' });
    }
    const match = before[i];
    if (match?.key === element.key) {
      i++;
      const inner = diffObjects(match.item, element.item, schema, retainKeys);
      if (inner !== undefined) changed.push({ ...inner, [mergeKey]: keyOf(element.item) });
    } else {
      changed.push(element.key === previous ? asEncoded(element.item, schema) : element.item);
    }
    previous = element.key;
  }
  for (const { item } of before.slice(i)) deleted.push({ [mergeKey]: keyOf(item), $patch: 'delete' });
  return [...sortByOrder(changed, next, keyOf), ...deleted];
}

/** The element as the API encodes it: where a key repeats, this one is merged into another, and what it lacks must be said. */
function asEncoded(item: JsonObject, { isAbsent, nullMembers = [] }: PatchSchema): JsonObject {
  const nulls = nullMembers.map((key): [string, null] => [key, null]);
  return Object.fromEntries([...nulls, ...Object.entries(item).filter(([key, value]) => !isAbsent(key, value))]);
}

/** Sorted by key; elements with the same key change places, as an insertion sort by Go's comparison leaves them. */
function sortByKey(list: readonly Json[], keyOf: (item: Json) => Json): { item: JsonObject; key: string }[] {
  const keyed = list.map((item) => ({ item: item as JsonObject, key: String(keyOf(item)) }));
  return keyed.reverse().sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function diffPrimitives(field: string, old: readonly Json[], next: readonly Json[]): JsonObject {
  const [before, after] = [new Set(old), new Set(next)];
  const added = next.filter((item) => !before.has(item));
  const removed = old.filter((item) => !after.has(item));
  const out: JsonObject = {};
  if (added.length > 0) out[field] = added;
  if (removed.length > 0) out[`$deleteFromPrimitiveList/${field}`] = [...new Set(removed)];
  if (next.length > 0) out[`$setElementOrder/${field}`] = [...next];
  return out;
}
