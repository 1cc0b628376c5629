import type { NamespacedName } from './object-name.ts';

/** One strategy: how objects are read, and what is kept of them while pods refer to them. */
export interface ObjectReader<T> {
  /**
   * Rejects with ERR_NOT_REGISTERED, ERR_NOT_FOUND, ERR_SYNC_TIMEOUT, or the `ApiError` of the request. What it resolves to
   * is frozen.
   */
  get(object: NamespacedName): Promise<T>;
  /** A pod refers to the object. Waits for nothing, and never throws. */
  addReference(object: NamespacedName): void;
  /** A pod does so no more. With the last reference all that is kept of the object goes. Never throws. */
  removeReference(object: NamespacedName): void;
  /** Forgets everything. When it resolves, no watch and no timer is left. */
  stop(): Promise<void>;
}
