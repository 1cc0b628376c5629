import { deepFreeze } from '../../api/json/json.ts';
import { isOlderThan } from '../../api/json/resource-version.ts';
import type { ApiObject } from '../../client/resources/api-resource.ts';
import type { PodHoldings } from './object-budget.ts';
import type { NamespacedName } from './object-errors.ts';

/** One strategy: how objects are read, and what is kept of them while pods refer to them. */
export interface ObjectReader<T> {
  /**
   * Rejects with ERR_NOT_REGISTERED, ERR_NOT_FOUND, ERR_SYNC_TIMEOUT, ERR_OVER_BUDGET, or the `ApiError` of the request. What
   * it resolves to is frozen.
   */
  get(object: NamespacedName): Promise<T>;
  /** The pod refers to the object, which it did not. Waits for nothing, and never throws. */
  addReference(object: NamespacedName, pod: PodHoldings): void;
  /** The pod does so no more. With the last reference all that is kept of the object goes. Never throws. */
  removeReference(object: NamespacedName, pod: PodHoldings): void;
  /** Forgets everything. When it resolves, no watch and no timer is left. */
  stop(): Promise<void>;
}

/** `other` where `object` is certainly older. */
export function newerOf<T extends ApiObject>(object: T, other: T | undefined): T {
  return other !== undefined && isOlderThan(object, other) ? other : object;
}

/** The same type with every member read-only, however deep. */
export type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;

/**
 * Freezes an object that came from a server: it is handed to every reader, so none may change it. Its managedFields are
 * left out: nobody who reads a secret or a config map needs them.
 */
export function received<T extends ApiObject>(object: T): T {
  if (object.metadata?.managedFields === undefined) return deepFreeze(object);
  const { managedFields: _, ...metadata } = object.metadata;
  return deepFreeze({ ...object, metadata });
}
