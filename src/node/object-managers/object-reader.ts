import type { PodHoldings } from './object-budget.ts';
import type { NamespacedName } from './object-name.ts';

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
