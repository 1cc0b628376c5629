// The order of merged lists: behaviour of k8s.io/apimachinery/pkg/util/strategicpatch, v0.36.3.
import { invalidArgument } from '../errors.ts';
import { isJsonObject, member } from '../wire/json.ts';
import type { Json, JsonObject } from '../wire/types.ts';

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
 * An insertion sort by a comparison that need not be an order: where Go asks such a comparison, the outcome
 * depends on the algorithm, and lists this short go through exactly this one.
 */
export function insertionSort<T>(items: readonly T[], before: (a: T, b: T) => boolean): T[] {
  const out = [...items];
  for (let i = 1; i < out.length; i++) {
    for (let j = i; j > 0; j--) {
      const [left, right] = [out[j - 1] as T, out[j] as T];
      if (!before(right, left)) break;
      out[j - 1] = right;
      out[j] = left;
    }
  }
  return out;
}

/** `items` in the order of `order`; an item that `order` lacks goes before all that stand in front of it. */
export function sortByOrder(items: readonly Json[], order: readonly Json[], keyOf: KeyOf): Json[] {
  const index = indexByKey(order, keyOf);
  return insertionSort(items, (a, b) => {
    const [left, right] = [index.get(keyOf(a)), index.get(keyOf(b))];
    return left === undefined || right === undefined || left < right;
  });
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

/** The element of `list` with the key, as index; -1 when there is none. Elements that are no objects are refused. */
export function findByMergeKey(field: string, list: readonly Json[], mergeKey: string, key: Json): number {
  return list.findIndex((item) => {
    if (!isJsonObject(item)) throw invalidArgument(field, 'a list of objects', item);
    return member(item, mergeKey) === key;
  });
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
