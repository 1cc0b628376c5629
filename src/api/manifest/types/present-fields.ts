import type { Json, JsonObject } from '../../json/types.ts';
import { fieldsOf } from './field-type.ts';

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
