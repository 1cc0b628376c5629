import { timeMembers } from '../../api/json/status-members.ts';
import { canonicalTime } from '../../api/json/time.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import { canonicalQuantity } from '../../api/quantity/quantity.ts';
import { invalidArgument } from '../../base/errors.ts';
import { canonicalText, isObject, requireDepth, type Source } from './source.ts';
import { unknownMember } from './unknown-member.ts';

const quantityMaps: ReadonlySet<string> = new Set(['allocatedResources', 'limits', 'requests', 'capacity']);
/** Text that Go writes even when it is empty. Everywhere else an empty text is an absent one. */
const keptWhenEmpty: ReadonlySet<string> = new Set(['ip', 'name', 'type', 'status', 'image', 'imageID', 'mountPath']);
/** Numbers that Go leaves out when they are zero. */
const droppedWhenZero: ReadonlySet<string> = new Set(['observedGeneration', 'signal']);

/** True for empty text, a zero or an empty list that the canonical form leaves out, as Go does. A time is none of these. */
export function isLeftOut(key: string, value: unknown): boolean {
  if (timeMembers.has(key)) return false;
  if (value === '') return !keptWhenEmpty.has(key);
  if (value === 0) return droppedWhenZero.has(key);
  return Array.isArray(value) && value.length === 0;
}

/**
 * A copy in canonical form of the member `key` of what stands at `parent`: no undefined or null, no empty list, times
 * in whole seconds, quantities as the apiserver writes them. Returns undefined for what Go would leave out. A member
 * that is not in `known` is copied as an unknown one.
 */
export function canonicalMember(known: ReadonlySet<string>, key: string, value: unknown, parent: string): Json | undefined {
  if (value === undefined || value === null) return undefined;
  // most members are text or a boolean: they need no path
  if (isPlain(key, value)) return typeof value === 'string' ? canonicalText(value) : value;
  const path = `${parent}.${key}`;
  return known.has(key) ? canonicalValue(key, value, path, 0) : unknownMember(value, path);
}

/** True for what is copied in the same way whatever is known of it. */
function isPlain(key: string, value: unknown): value is string | boolean {
  return (typeof value === 'boolean' || (typeof value === 'string' && value !== '')) && !timeMembers.has(key);
}

function canonicalValue(key: string, value: unknown, path: string, depth: number): Json | undefined {
  if (value === undefined || value === null) return undefined;
  requireDepth(value, path, depth);
  if (timeMembers.has(key)) return canonicalTime(value, path);
  if (isLeftOut(key, value)) return undefined;
  switch (typeof value) {
    case 'string':
      return canonicalText(value);
    case 'number':
      if (!Number.isFinite(value)) throw invalidArgument(path, 'a finite number', value);
      return value;
    case 'boolean':
      return value;
    case 'object':
      if (Array.isArray(value)) return canonicalList(key, value, path, depth);
      if (!isObject(value)) return canonicalTime(value, path);
      if (quantityMaps.has(key)) return canonicalQuantities(value, path);
      return canonicalObject(value, path, depth);
    default:
      throw invalidArgument(path, 'a JSON value', value);
  }
}

function canonicalList(key: string, list: readonly unknown[], path: string, depth: number): Json[] {
  return list.map((item, index) => canonicalValue(key, item, `${path}[${index}]`, depth + 1) ?? '');
}

/** An object of which every member is known. */
export function canonicalObject(source: Source, path: string, depth = 0): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(source)) {
    if (key === '__proto__') continue;
    const member = canonicalValue(key, source[key], `${path}.${key}`, depth + 1);
    if (member !== undefined) result[key] = member;
  }
  return result;
}

function canonicalQuantities(value: Source, path: string): JsonObject | undefined {
  let result: JsonObject | undefined;
  for (const name of Object.keys(value)) {
    const quantity = value[name];
    if (name === '__proto__' || quantity === undefined || quantity === null) continue;
    result ??= {};
    result[name] = canonicalQuantity(typeof quantity === 'number' ? String(quantity) : expectText(quantity, `${path}.${name}`));
  }
  return result;
}

function expectText(value: unknown, path: string): string {
  if (typeof value !== 'string') throw invalidArgument(path, 'a string', value);
  return value;
}
