import type { ApiObject } from '../../client/resources/api-resource.ts';

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

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
