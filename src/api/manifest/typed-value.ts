// Behaviour of sigs.k8s.io/json UnmarshalCaseSensitivePreserveInts: unknown fields are ignored, wrong types are errors, null is absent.
import { canonicalTime } from '../json/time.ts';
import type { Json, JsonObject } from '../json/types.ts';
import { canonicalQuantity } from '../quantity/quantity.ts';
import { check, refuse, refuseType } from './invalid-manifest.ts';
import {
  containerTypes,
  type Field,
  metadataTypes,
  parseFields,
  podSpecTypes,
  schedulingTypes,
  statusTypes,
  volumeTypes,
} from './pod-types.ts';
import { type ManifestObject, type ManifestValue, NumberText, shown } from './read-manifest.ts';

/** A quantity is a number in a text; upstream sets no limit, and nothing needs more. */
const longestQuantity = 100;
const maxDepthOfAny = 50;

/** The value of a type, such as `#Pod`, that a manifest holds at `path`. Throws a fault where a field has another type. */
export function typedValue(type: string, value: ManifestValue, path: string): Json {
  if (value === null) return zeroOf(type);
  if (type.startsWith('#')) return typedObject(type.slice(1), value, path);
  if (type.startsWith('[]')) return typedList(type.slice(2), value, path);
  if (type.startsWith('{}')) return typedMap(type.slice(2), value, path);
  return typedScalar(type, value, path);
}

function typedObject(type: string, value: ManifestValue, path: string): JsonObject {
  if (!(value instanceof Map)) return refuseType(path, 'an object', shown(value));
  const object: JsonObject = {};
  for (const field of fieldsOf(type)) {
    const given = fieldValue(field, value, path === '' ? field.name : `${path}.${field.name}`);
    if (given !== undefined) object[field.name] = given;
  }
  return object;
}

/** Undefined where the field is absent. */
function fieldValue({ name, type, presence }: Field, holder: ManifestObject, path: string): Json | undefined {
  const value = holder.get(name) ?? null;
  if (value === null) return presence === 'required' ? zeroOf(type) : undefined;
  const typed = typedValue(type, value, path);
  return presence === 'optional' && isZero(typed) ? undefined : typed;
}

/** What stands for an absent value where a value has to be. A time has none. */
function zeroOf(type: string): Json {
  if (type.startsWith('#')) return typedObject(type.slice(1), new Map(), '');
  if (type.startsWith('[]')) return [];
  if (type.startsWith('{}')) return {};
  if (type === 'bool') return false;
  if (type === 'quantity') return '0';
  if (type === 'time' || type === 'raw') return null;
  return type === 'string' ? '' : 0;
}

function isZero(value: Json): boolean {
  return value === '' || value === 0 || value === false || value === null;
}

function typedList(type: string, value: ManifestValue, path: string): Json[] {
  if (!Array.isArray(value)) return refuseType(path, 'a list', shown(value));
  return value.map((item, index) => typedValue(type, item, `${path}[${index}]`));
}

function typedMap(type: string, value: ManifestValue, path: string): JsonObject {
  if (!(value instanceof Map)) return refuseType(path, 'an object', shown(value));
  const map: JsonObject = {};
  for (const [key, inner] of value) {
    if (key === '__proto__') refuse(`${path}.__proto__`, 'absent', shown(inner));
    map[key] = typedValue(type, inner, `${path}[${key}]`);
  }
  return map;
}

function typedScalar(type: string, value: Exclude<ManifestValue, null>, path: string): Json {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : refuseType(path, 'a string', shown(value));
    case 'bool':
      return typeof value === 'boolean' ? value : refuseType(path, 'a boolean', shown(value));
    case 'int32':
      return integer(value, -(2 ** 31), 2 ** 31 - 1, path);
    case 'int64':
      return integer(value, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, path);
    case 'intOrString':
      return typeof value === 'string' ? value : integer(value, -(2 ** 31), 2 ** 31 - 1, path);
    case 'quantity':
      return quantity(value, path);
    case 'time':
      return time(value, path);
    default:
      return anyValue(value, path, maxDepthOfAny);
  }
}

/** A value that Kubernetes looks into nowhere (the fields of managed fields). */
function anyValue(value: ManifestValue, path: string, depth: number): Json {
  if (value instanceof NumberText) return Number(value.text);
  if (typeof value !== 'object' || value === null) return value;
  check(depth > 0, path, `at most ${maxDepthOfAny} deep`, shown(value));
  if (Array.isArray(value)) return value.map((item) => anyValue(item, path, depth - 1));
  const object: JsonObject = {};
  for (const [key, inner] of value) {
    if (key !== '__proto__') object[key] = anyValue(inner, path, depth - 1);
  }
  return object;
}

function integer(value: ManifestValue, min: number, max: number, path: string): number {
  const rule = `an integer from ${min} to ${max}`;
  if (!(value instanceof NumberText) || !/^-?[0-9]+$/.test(value.text)) return refuseType(path, rule, shown(value));
  const number = Number(value.text);
  check(number >= min && number <= max, path, rule, shown(value));
  return number === 0 ? 0 : number;
}

function quantity(value: ManifestValue, path: string): string {
  const rule = `a quantity of at most ${longestQuantity} characters, such as 100m, 1.5Gi or 1e3`;
  const text = value instanceof NumberText ? value.text : value;
  if (typeof text !== 'string' || text.length > longestQuantity || /[eE][-+]?[0-9]{3}/.test(text))
    return refuse(path, rule, shown(value));
  try {
    return canonicalQuantity(text);
  } catch {
    return refuse(path, rule, text);
  }
}

function time(value: ManifestValue, path: string): string | null {
  try {
    if (typeof value === 'string') return canonicalTime(value, path) ?? null;
  } catch {
    // refused below
  }
  return refuse(path, 'an RFC 3339 time', shown(value));
}

// The types of the fields of a pod, as Go declares them.

const typeTexts: Readonly<Record<string, readonly string[]>> = {
  ...metadataTypes,
  ...podSpecTypes,
  ...containerTypes,
  ...volumeTypes,
  ...schedulingTypes,
  ...statusTypes,
};

const fieldsByType: ReadonlyMap<string, readonly Field[]> = new Map(
  Object.entries(typeTexts).map(([name, lines]) => [name, parseFields(lines)]),
);

/** The fields of a type, in Go's order. */
function fieldsOf(type: string): readonly Field[] {
  const fields = fieldsByType.get(type);
  if (fields === undefined) throw new Error(`no type ${type} is declared`);
  return fields;
}

/** The value without what Go leaves out when it writes JSON: empty lists and maps that need not be there, and absent times. */
export function presentFields(type: string, value: Json): Json {
  if (type.startsWith('#')) return presentObject(type.slice(1), value as JsonObject);
  return type.startsWith('[]') ? (value as Json[]).map((item) => presentFields(type.slice(2), item)) : value;
}

function presentObject(type: string, value: JsonObject): JsonObject {
  const object: JsonObject = {};
  for (const { name, type: fieldType, presence } of fieldsOf(type)) {
    const held = value[name];
    if (held === undefined || held === null) continue;
    if (presence === 'optional' && isEmpty(held)) continue;
    object[name] = presentFields(fieldType, held);
  }
  return object;
}

function isEmpty(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}
