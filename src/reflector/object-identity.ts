import type { ApiObject } from '../client/api-resource.ts';
import { compareResourceVersions } from '../wire/resource-version.ts';

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

/** True when `version` is certainly older than `held`: versions that are no numbers cannot be put in order. */
export function isOlderVersion(version: string, held: string): boolean {
  const order = compareResourceVersions(version, held);
  return order !== undefined && order < 0;
}
