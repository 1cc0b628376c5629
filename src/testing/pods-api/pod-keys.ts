import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../wire/types.ts';
import { badRequest } from './api-status.ts';
import { objectAt, textAt } from './json-fields.ts';

/** The key of a pod in a store: `namespace/name`. */
export function keyOf(pod: JsonObject): string {
  const metadata = objectAt(pod, 'metadata');
  return `${textAt(metadata, 'namespace')}/${textAt(metadata, 'name')}`;
}

/** The name, or one made from `generateName`; empty without either. */
export function nameOf(metadata: JsonObject): string {
  const name = textAt(metadata, 'name');
  if (name !== '') return name;
  const prefix = textAt(metadata, 'generateName');
  return prefix === '' ? '' : `${prefix}${randomUUID().slice(0, 5)}`;
}

/** Throws 400 for an empty name. */
export function requireName(name: string): string {
  if (name === '') throw badRequest('name or generateName is required');
  return name;
}

export function namespaceOf(metadata: JsonObject): string {
  return textAt(metadata, 'namespace') || 'default';
}

/** The pod with this namespace and name, and with a new uid when it has none. */
export function withIdentity(pod: JsonObject, namespace: string, name: string): JsonObject {
  const metadata = objectAt(pod, 'metadata');
  const uid = textAt(metadata, 'uid') || randomUUID();
  return { ...pod, metadata: { ...metadata, namespace, name, uid } };
}
