import type { ApiObject } from '../client/api-resource.ts';
import { compareResourceVersions } from '../wire/resource-version.ts';

/** True when `a` is certainly older than `b`: versions that are no numbers cannot be put in order. */
export function isOlder(a: ApiObject, b: ApiObject): boolean {
  const order = compareResourceVersions(a.metadata?.resourceVersion ?? '', b.metadata?.resourceVersion ?? '');
  return order !== undefined && order < 0;
}

/** `other` where `object` is certainly older. */
export function newerOf<T extends ApiObject>(object: T, other: T | undefined): T {
  return other !== undefined && isOlder(object, other) ? other : object;
}
