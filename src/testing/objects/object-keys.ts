import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../api/json/types.ts';
import { badRequest } from './api-status.ts';
import { objectAt, textAt } from './json-fields.ts';

/** The key of an object in a store: `namespace/name`, or the name alone for an object of the cluster. */
export function keyOf(object: JsonObject): string {
  const metadata = objectAt(object, 'metadata');
  return keyFor(textAt(metadata, 'namespace'), textAt(metadata, 'name'));
}

export function keyFor(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** The longest name that is made from `generateName`, without its random end. */
const longestPrefix = 58;

/** The name, or one made from `generateName`; empty without either. */
export function nameOf(metadata: JsonObject): string {
  const name = textAt(metadata, 'name');
  if (name !== '') return name;
  const prefix = textAt(metadata, 'generateName');
  return prefix === '' ? '' : `${prefix.slice(0, longestPrefix)}${randomUUID().slice(0, 5)}`;
}

/** Throws 400 for an empty name. */
export function requireName(name: string): string {
  if (name === '') throw badRequest('name or generateName is required');
  return name;
}

/** The object with this namespace (empty: none) and name, and with a new uid when it has none. */
export function withIdentity(object: JsonObject, namespace: string, name: string): JsonObject {
  const metadata = objectAt(object, 'metadata');
  const uid = textAt(metadata, 'uid') || randomUUID();
  return { ...object, metadata: { ...metadata, ...(namespace === '' ? {} : { namespace }), name, uid } };
}
