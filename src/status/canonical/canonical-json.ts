import { timeMembers } from '../../api/json/status-members.ts';
import { canonicalTime } from '../../api/json/time.ts';
import type { Json, JsonObject, WirePodStatus } from '../../api/json/types.ts';
import { canonicalQuantity } from '../../api/quantity/quantity.ts';
import { invalidArgument } from '../../base/errors.ts';

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

const maxDepth = 24;

/** What callers hand in, before anything is known of its members. */
export type Source = { readonly [key: string]: unknown };

/** True for anything that holds named members, client-node's classes included. */
export function isObject(value: unknown): value is Source {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Text the apiserver returns unchanged: its JSON decoder replaces lone surrogates, so we do it first. */
export function canonicalText(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** Refuses what is nested deeper than any status is: it may go round in circles. */
function requireDepth(value: unknown, path: string, depth: number): void {
  if (depth > maxDepth) throw invalidArgument(path, `nested at most ${maxDepth} deep`, value);
}

/** `convert` of every object of a list. Undefined for an empty list. Throws ERR_INVALID_ARGUMENT for what is no list of objects. */
export function mapObjects<T>(path: string, value: unknown, convert: (source: Source, index: number) => T): T[] | undefined {
  if (!Array.isArray(value)) throw invalidArgument(path, 'a list', value);
  if (value.length === 0) return undefined;
  return value.map((item: unknown, index) => {
    if (!isObject(item)) throw invalidArgument(`${path}[${index}]`, 'an object', item);
    return convert(item, index);
  });
}

/**
 * A copy of a member that Kubernetes 1.36 does not know. Nothing is known of its meaning, so empty text, empty lists,
 * zeros, times and quantities in it stay as they are. Members that are null or undefined are left out, and a `Date`
 * becomes text. Throws ERR_INVALID_ARGUMENT for what is no JSON value.
 */
function unknownMember(value: unknown, path: string, depth = 0): Json | undefined {
  if (value === undefined || value === null) return undefined;
  requireDepth(value, path, depth);
  if (typeof value === 'string') return canonicalText(value);
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return value;
  if (Array.isArray(value)) return value.map((item, index) => unknownMember(item, `${path}[${index}]`, depth + 1) ?? null);
  if (isObject(value)) return unknownObject(value, path, depth);
  if (value instanceof Date) return canonicalTime(value, path);
  throw invalidArgument(path, 'a JSON value', value);
}

function unknownObject(source: Source, path: string, depth: number): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(source)) {
    if (key === '__proto__') continue;
    const member = unknownMember(source[key], `${path}.${key}`, depth + 1);
    if (member !== undefined) result[key] = member;
  }
  return result;
}

/** A status whose own members may be completed: the rest is shared and never changed. */
export function ownCopy(status: WirePodStatus): WirePodStatus {
  return status.conditions === undefined ? { ...status } : { ...status, conditions: [...status.conditions] };
}

/**
 * A deep copy for handing out: no reader can change it. Each `Date` becomes an accessor that gives a fresh one at every
 * read: `Object.freeze` does not keep a Date from being set.
 */
export function frozenCopy<T>(value: T): T {
  return copyOf(value) as T;
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map((item) => copyOf(item)));
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member instanceof Date) defineTime(copy, key, member.getTime());
    else copy[key] = copyOf(member);
  }
  return Object.freeze(copy);
}

/** A member that gives a fresh `Date` at every read. */
function defineTime(target: Record<string, unknown>, key: string, ms: number): void {
  Object.defineProperty(target, key, { enumerable: true, get: () => new Date(ms) });
}
