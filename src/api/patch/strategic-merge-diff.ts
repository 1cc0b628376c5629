// Behaviour of k8s.io/apimachinery/pkg/util/strategicpatch CreateTwoWayMergePatch, v0.36.3.

import { invalidArgument } from '../../base/errors.ts';
import { isJsonObject, member, wireEqual } from '../json/json.ts';
import type { Json, JsonObject } from '../json/types.ts';
import { fieldOf, type PatchField, type PatchSchema, schemaOfMember } from './patch-schemas.ts';

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

// The order of merged lists: behaviour of k8s.io/apimachinery/pkg/util/strategicpatch, v0.36.3.

/** What identifies a list element: the value of its merge key, or the element itself in a list of primitives. */
export type KeyOf = (item: Json) => Json;

export function keyBy(field: string, mergeKey: string | undefined): KeyOf {
  if (mergeKey !== undefined) return (item) => mergeKeyValue(field, mergeKey, item);
  return (item) => {
    if (typeof item === 'object') throw invalidArgument(field, 'a list of strings, numbers or booleans', item);
    return item;
  };
}

function mergeKeyValue(field: string, mergeKey: string, item: Json): Json {
  const value = isJsonObject(item) ? member(item, mergeKey) : undefined;
  if (value === undefined) throw invalidArgument(field, `a list of objects that each carry the merge key ${mergeKey}`, item);
  return value;
}

/** Directive `$patch` of a list element or an object, if it has one. */
export function directiveOf(item: Json): Json | undefined {
  return isJsonObject(item) ? member(item, '$patch') : undefined;
}

function indexByKey(list: readonly Json[], keyOf: KeyOf): Map<Json, number> {
  const index = new Map<Json, number>();
  list.forEach((item, at) => {
    const key = keyOf(item);
    if (!index.has(key)) index.set(key, at);
  });
  return index;
}

/**
 * `items` in the order of `order`. An item that `order` lacks goes before all that stood in front of it, and what comes later
 * goes behind it only where something of those has an earlier place in `order`: so an insertion sort leaves them by Go's
 * comparison, which is no order, and lists as short as those of a pod go through such a sort there.
 */
export function sortByOrder(items: readonly Json[], order: readonly Json[], keyOf: KeyOf): Json[] {
  const index = indexByKey(order, keyOf);
  const ordered: { readonly item: Json; readonly place: number }[] = [];
  /** The items that `order` lacks, by the place of what they stand in front of. */
  const inFront = new Map<number, Json[]>();
  let first = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const place = index.get(keyOf(item));
    if (place !== undefined) {
      ordered.push({ item, place });
      first = Math.min(first, place);
      continue;
    }
    const held = inFront.get(first);
    if (held === undefined) inFront.set(first, [item]);
    else held.push(item);
  }
  ordered.sort((a, b) => a.place - b.place);
  const out: Json[] = [];
  const take = (place: number): void => {
    for (const item of inFront.get(place)?.toReversed() ?? []) out.push(item);
    inFront.delete(place);
  };
  for (const { item, place } of ordered) {
    take(place);
    out.push(item);
  }
  take(Number.POSITIVE_INFINITY);
  return out;
}

/**
 * The elements of `merged` in their final order: those `wanted` lists follow it, the others keep the order of
 * `serverOrder` and go in front of the first wanted one that stood behind them.
 */
export function inElementOrder(
  merged: readonly Json[],
  wanted: readonly Json[],
  serverOrder: readonly Json[],
  keyOf: KeyOf,
): Json[] {
  const wantedKeys = indexByKey(wanted, keyOf);
  const patchItems = sortByOrder(
    merged.filter((item) => wantedKeys.has(keyOf(item))),
    wanted,
    keyOf,
  );
  const serverOnly = sortByOrder(
    merged.filter((item) => !wantedKeys.has(keyOf(item))),
    serverOrder,
    keyOf,
  );
  return interleave(serverOnly, patchItems, indexByKey(serverOrder, keyOf), keyOf);
}

function interleave(left: readonly Json[], right: readonly Json[], serverIndex: ReadonlyMap<Json, number>, keyOf: KeyOf): Json[] {
  const out: Json[] = [];
  let i = 0;
  for (const item of right) {
    const at = serverIndex.get(keyOf(item));
    for (let next = left[i]; next !== undefined; next = left[++i]) {
      const nextAt = serverIndex.get(keyOf(next));
      if (at === undefined || nextAt === undefined || nextAt >= at) break;
      out.push(next);
    }
    out.push(item);
  }
  return [...out, ...left.slice(i)];
}

/** Refuses a patch whose elements do not stand in `$setElementOrder` in the same order; deleted ones need not. */
export function checkElementOrder(field: string, patch: readonly Json[], order: readonly Json[], keyOf: KeyOf): void {
  if (order.length === 0 || patch.length === 0) return;
  const items = patch.filter((item) => directiveOf(item) !== 'delete');
  let next = 0;
  for (let at = 0; at < order.length && next < items.length; at++) {
    while (directiveOf(items[next] ?? null) !== undefined) next++;
    if (next < items.length && keyOf(items[next] ?? null) === keyOf(order[at] ?? null)) next++;
  }
  if (next < items.length) {
    throw invalidArgument(field, `a list whose elements all stand in $setElementOrder/${field}, in the same order`, items);
  }
}

/** True for a list of objects, false for one of primitives; refuses lists that mix kinds and lists of lists. */
export function isListOfObjects(field: string, ...lists: readonly (readonly Json[])[]): boolean {
  const kinds = new Set(lists.flatMap((list) => list.map((item) => (isJsonObject(item) ? 'object' : typeof item))));
  if (kinds.size > 1) throw invalidArgument(field, 'a list of elements of one type', lists.flat());
  if (lists.some((list) => list.some((item) => Array.isArray(item))))
    throw invalidArgument(field, 'no list of lists', lists.flat());
  return kinds.has('object');
}

export function asList(field: string, value: Json): Json[] {
  if (!Array.isArray(value)) throw invalidArgument(field, 'a list', value);
  return value;
}

/** The members of `object` but for the one that says what to do with it. */
export function withoutDirective(object: JsonObject): JsonObject {
  const { $patch: _, ...rest } = object;
  return rest;
}
