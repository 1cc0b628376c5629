import { isJsonObject } from '../../api/json/json.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';

/** The object at `key`, or an empty one. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isJsonObject(value) ? value : {};
}

export function textAt(object: JsonObject, key: string): string {
  const value = object[key];
  return typeof value === 'string' ? value : '';
}

export function numberAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === 'number' ? value : undefined;
}

/** The objects in the list at `key`, without its other items. */
export function objectsAt(object: JsonObject, key: string): JsonObject[] {
  const value = object[key];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textsAt(object: JsonObject, key: string): string[] {
  const value = object[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** A deep copy as JSON: `undefined` members are gone and every `Date` is a string. */
export function copyJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

/** Freezes the whole value and returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}

/** Equal as JSON, whatever the order of members. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]));
}

/** A copy of the object without the named members. */
export function without(object: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/** A value of a member has the wrong type. How the server answers depends on the request it came with. */
export class ShapeError extends TypeError {}

/** The name that Go's decoder has for a JSON value. */
export function goTypeOf(value: Json): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
