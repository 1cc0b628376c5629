import { invalidArgument } from '../../base/errors.ts';
import { hasFourDigitYear } from './time.ts';
import type { Json, JsonObject } from './types.ts';

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of an object; none of anything else. */
export function membersOf(value: unknown): Partial<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

/** The member's value, or undefined when the object has no such own member. A key named like something on Object.prototype is no member. */
export function member(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/**
 * A deep copy of `value` as it stands in JSON: a `Date` becomes a whole-second RFC 3339 string, and members that are
 * null or undefined are left out, since the API takes a null member for an absent one, and so is one called `__proto__`.
 * Nothing else is changed.
 */
export function toWireJson(value: unknown, name = 'value'): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (value instanceof Date) return wireTime(value, name);
  if (Array.isArray(value)) return value.map((item, index) => toWireJson(item, `${name}[${index}]`));
  if (typeof value !== 'object') throw invalidArgument(name, 'a JSON value or a Date', value);
  const out: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) {
    if (inner !== null && inner !== undefined && key !== '__proto__') out[key] = toWireJson(inner, `${name}.${key}`);
  }
  return out;
}

/** {@link toWireJson} for what has to be an object; null and undefined count as the empty one. */
export function toWireObject(value: unknown, name: string): JsonObject {
  const wire = toWireJson(value ?? {}, name);
  if (!isJsonObject(wire)) throw invalidArgument(name, 'an object', value);
  return wire;
}

function wireTime(date: Date, name: string): string {
  if (!hasFourDigitYear(date.getTime())) throw invalidArgument(name, 'a valid Date', String(date));
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Says that a member holding `value` means the same as no such member. */
export type IsAbsent = (key: string, value: Json) => boolean;

/** Nothing but null counts as absent: right wherever the meaning of empty strings and lists is not known. */
export const nullIsAbsent: IsAbsent = (_key, value) => value === null;

/** Equality of two JSON values that takes members which are absent to the API for absent. */
export function wireEqual(a: Json, b: Json, isAbsent: IsAbsent): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => wireEqual(item, b[index] ?? null, isAbsent));
  }
  return !Array.isArray(b) && membersEqual(a, b, isAbsent);
}

function membersEqual(a: JsonObject, b: JsonObject, isAbsent: IsAbsent): boolean {
  for (const key of Object.keys(a)) {
    const left = a[key] ?? null;
    const right = member(b, key) ?? null;
    if (left === right || wireEqual(left, right, isAbsent)) continue;
    if (!isAbsent(key, left) || !isAbsent(key, right)) return false;
  }
  for (const key of Object.keys(b)) {
    if (!Object.hasOwn(a, key) && !isAbsent(key, b[key] ?? null)) return false;
  }
  return true;
}

/** Deeper parts count as different: objects of the API are far from it, and no answer may exhaust the stack. */
export const deepestCompared = 200;

/** True when two values are equal as `JSON.parse` made them, whatever the order of members. */
export function isEqualJson(a: unknown, b: unknown, depth = 0): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || depth > deepestCompared) return false;
  const keys = Object.keys(a);
  if (Array.isArray(a) !== Array.isArray(b) || keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isEqualJson((a as never)[key], (b as never)[key], depth + 1));
}

/** Freezes the whole value and returns it. A part that is frozen already is taken for frozen to its depth. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

/** A deep copy of a JSON value. The receiver may change it. */
export function copyJson<T extends Json>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as T;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) copy[key] = copyJson(value[key] ?? null);
  return copy as T;
}

/** Lists that are no longer than this are searched: an index would cost more. */
export const longestSearched = 16;

/**
 * Finds the first item of a list with a key. The size of a list is its author's: a long one is gone through once, however
 * many questions follow. With `guess` the item at that index is looked at first.
 */
export function lookupBy<T>(
  list: readonly T[] | null | undefined,
  keyOf: (item: T) => unknown,
): (key: unknown, guess?: number) => T | undefined {
  const items = list ?? [];
  let index: ReadonlyMap<unknown, T> | undefined;
  return (key, guess) => {
    const near = guess === undefined ? undefined : items[guess];
    if (near !== undefined && keyOf(near) === key) return near;
    if (items.length <= longestSearched) return firstWith(items, keyOf, key);
    index ??= firstByKey(items, keyOf);
    return index.get(key);
  };
}

function firstWith<T>(items: readonly T[], keyOf: (item: T) => unknown, key: unknown): T | undefined {
  for (const item of items) if (keyOf(item) === key) return item;
  return undefined;
}

function firstByKey<T>(items: readonly T[], keyOf: (item: T) => unknown): ReadonlyMap<unknown, T> {
  const index = new Map<unknown, T>();
  for (const item of items) {
    const key = keyOf(item);
    if (!index.has(key)) index.set(key, item);
  }
  return index;
}

/** The items that have a name, found by it: containers, and the statuses of containers. */
export function lookupByName<T extends { readonly name: string }>(
  list: readonly T[] | null | undefined,
): (name: unknown, guess?: number) => T | undefined {
  return lookupBy(list, ({ name }) => name);
}
