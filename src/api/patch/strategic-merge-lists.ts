// The order of merged lists: behaviour of k8s.io/apimachinery/pkg/util/strategicpatch, v0.36.3.
import { invalidArgument } from '../../base/errors.ts';
import { isJsonObject, member } from '../json/json.ts';
import type { Json, JsonObject } from '../json/types.ts';

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
