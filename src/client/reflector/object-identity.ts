import type { ApiObject } from '../resources/api-resource.ts';

/** Empty for an object of the cluster. */
export function namespaceOf(object: ApiObject): string {
  return object.metadata?.namespace ?? '';
}

export function nameOf(object: ApiObject): string {
  return object.metadata?.name ?? '';
}

export function versionOf(object: ApiObject): string {
  return object.metadata?.resourceVersion ?? '';
}

/** `namespace/name`, or the name alone for an object of the cluster. */
export function keyOf(object: ApiObject): string {
  const namespace = namespaceOf(object);
  return namespace === '' ? nameOf(object) : `${namespace}/${nameOf(object)}`;
}

/** False for an object that was recreated under its name. */
export function isSameObject(a: ApiObject, b: ApiObject): boolean {
  return a.metadata?.uid === b.metadata?.uid;
}
