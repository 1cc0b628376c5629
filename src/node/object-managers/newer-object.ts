import { isOlderThan } from '../../api/json/resource-version.ts';
import type { ApiObject } from '../../client/resources/api-resource.ts';

/** `other` where `object` is certainly older. */
export function newerOf<T extends ApiObject>(object: T, other: T | undefined): T {
  return other !== undefined && isOlderThan(object, other) ? other : object;
}
