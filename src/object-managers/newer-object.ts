import type { ApiObject } from '../client/api-resource.ts';
import { isOlderThan } from '../wire/resource-version.ts';

/** `other` where `object` is certainly older. */
export function newerOf<T extends ApiObject>(object: T, other: T | undefined): T {
  return other !== undefined && isOlderThan(object, other) ? other : object;
}
