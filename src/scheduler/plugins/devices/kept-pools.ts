import type { WireNode } from '../../../api/json/types.ts';
import type { ResourceSlice } from '../../devices/device-types.ts';
import { type SlicePool, SlicePools } from '../../devices/slice-pools.ts';

/** The slices as the watch has brought them. */
export interface WatchedSlices {
  list(): readonly ResourceSlice[];
  onChange(handler: (before: ResourceSlice | undefined, after: ResourceSlice | undefined) => void): void;
}

/**
 * The pools of the devices that drivers publish, kept from one attempt to the next. One for all profiles: nobody else changes them. They are made
 * for the first pod that needs them.
 */
export class KeptPools {
  readonly #slices: WatchedSlices;
  #pools: SlicePools | undefined;

  constructor(slices: WatchedSlices) {
    this.#slices = slices;
    slices.onChange((before, after) => this.#change(before, after));
  }

  /** Throws for a slice that cannot be read. */
  upToDate(): this {
    this.#current();
    return this;
  }

  /** As the slices are now, also for an attempt that has waited meanwhile. */
  reachedBy(node: WireNode): readonly SlicePool[] {
    return this.#current().reachedBy(node);
  }

  #current(): SlicePools {
    this.#pools ??= new SlicePools(this.#slices.list());
    return this.#pools;
  }

  #change(before: ResourceSlice | undefined, after: ResourceSlice | undefined): void {
    const pools = this.#pools;
    // what cannot take a change is never asked again
    this.#pools = undefined;
    pools?.change(before, after);
    this.#pools = pools;
  }
}
