import type { WirePodStatus } from '../api/json/types.ts';

/** Under this name a status manager answers with a status as it keeps it. */
export const cachedStatus: unique symbol = Symbol('cachedStatus');

/**
 * The newest status of a pod as this status manager keeps it, to be read and never changed. `getPodStatus` would make, and keep, a view of it
 * with times as `Date`s. Undefined where there is none, and where the manager is another one: then `getPodStatus` says it.
 */
export function cachedStatusOf(statusManager: object, podUID: string): WirePodStatus | undefined {
  return (statusManager as { [cachedStatus]?: (uid: string) => WirePodStatus | undefined })[cachedStatus]?.(podUID);
}
