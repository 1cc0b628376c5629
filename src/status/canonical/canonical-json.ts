import { invalidArgument } from '../../errors.ts';
import { canonicalQuantity } from '../../wire/quantity.ts';
import { canonicalTime } from '../../wire/time.ts';
import type { Json, JsonObject } from '../../wire/types.ts';

const maxDepth = 24;
const timeFields: ReadonlySet<string> = new Set(['startTime', 'lastProbeTime', 'lastTransitionTime', 'startedAt', 'finishedAt']);
const quantityMaps: ReadonlySet<string> = new Set(['allocatedResources', 'limits', 'requests', 'capacity']);
/** Text that Go writes even when it is empty. Everywhere else an empty text is an absent one. */
const keptWhenEmpty: ReadonlySet<string> = new Set(['ip', 'name', 'type', 'status', 'image', 'imageID', 'mountPath']);
/** Numbers that Go leaves out when they are zero. */
const droppedWhenZero: ReadonlySet<string> = new Set(['observedGeneration', 'signal']);

export type Source = { readonly [key: string]: unknown };

/** True for anything that holds named members, client-node's classes included. */
export function isObject(value: unknown): value is Source {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Text the apiserver gives back unchanged: its JSON decoder replaces lone surrogates, so we do it first. */
export function canonicalText(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
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

/**
 * A copy in canonical form of the member `key` of what stands at `parent`: no undefined or null, no empty list, times
 * in whole seconds, quantities as the apiserver writes them. Returns undefined for what Go would leave out.
 */
export function canonicalMember(key: string, value: unknown, parent: string, depth = 0): Json | undefined {
  if (value === undefined || value === null) return undefined;
  // most members are text or a boolean: they need no path
  if ((typeof value === 'boolean' || (typeof value === 'string' && value !== '')) && !timeFields.has(key)) {
    return typeof value === 'string' ? canonicalText(value) : value;
  }
  return canonicalValue(key, value, `${parent}.${key}`, depth);
}

function canonicalValue(key: string, value: unknown, path: string, depth: number): Json | undefined {
  if (value === undefined || value === null) return undefined;
  if (depth > maxDepth) throw invalidArgument(path, `nested at most ${maxDepth} deep`, value);
  if (timeFields.has(key)) return canonicalTime(value, path);
  switch (typeof value) {
    case 'string':
      return value === '' && !keptWhenEmpty.has(key) ? undefined : canonicalText(value);
    case 'number':
      if (!Number.isFinite(value)) throw invalidArgument(path, 'a finite number', value);
      return value === 0 && droppedWhenZero.has(key) ? undefined : value;
    case 'boolean':
      return value;
    case 'object':
      if (Array.isArray(value)) return canonicalList(key, value, path, depth);
      if (value instanceof Date) return canonicalTime(value, path);
      if (quantityMaps.has(key)) return canonicalQuantities(value as Source, path);
      return canonicalObject(value as Source, path, depth);
    default:
      throw invalidArgument(path, 'a JSON value', value);
  }
}

function canonicalList(key: string, list: readonly unknown[], path: string, depth: number): Json[] | undefined {
  if (list.length === 0) return undefined;
  return list.map((item, index) => canonicalValue(key, item, `${path}[${index}]`, depth + 1) ?? '');
}

function canonicalObject(source: Source, path: string, depth: number): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(source)) {
    if (key === '__proto__') continue;
    const member = canonicalMember(key, source[key], path, depth + 1);
    if (member !== undefined) result[key] = member;
  }
  return result;
}
