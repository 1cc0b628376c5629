import type { WireNode } from '../../../api/json/types.ts';
import type { SteadyClock } from '../../../base/clock.ts';
import { errorText } from '../../../base/errors.ts';
import { DeviceAllocationError } from '../../devices/device-allocation-error.ts';
import type { AllocatedDevices, ClaimAllocation, DeviceClass, ResourceClaim } from '../../devices/device-types.ts';
import type { SlicePools } from '../../devices/slice-pools.ts';
import type { SearchAccounts, TimedSearch } from './search-accounts.ts';
import { namesOfClaims } from './usable-claims.ts';

/** What finds devices for claims on a node. */
export interface NodeAllocator {
  /** What each claim gets, in their order; undefined where the node has not enough. Throws DeviceAllocationError. */
  allocate(node: WireNode, claims: readonly ResourceClaim[]): readonly ClaimAllocation[] | undefined;
}

/** What an allocator is made of for one pod. */
export interface AllocatorNeeds {
  /** The pools as they are whenever they are asked for. */
  readonly pools: Pick<SlicePools, 'reachedBy'>;
  readonly deviceClass: (name: string) => DeviceClass | undefined;
  readonly allocated: AllocatedDevices;
  /** True where the time for the node is over. */
  readonly isOverdue: () => boolean;
}

/** Makes what finds devices for the claims of one pod. */
export type MakeAllocator = (needs: AllocatorNeeds) => NodeAllocator;

/** A text says why there are no devices. */
export type FoundOnNode = readonly ClaimAllocation[] | string;

/** What one attempt finds on nodes, and how long that takes. */
export class NodeSearches {
  readonly allocator: NodeAllocator;
  readonly time: TimedSearch;
  /** What was found on each node that was looked at. */
  readonly seen = new Map<WireNode, FoundOnNode>();

  constructor(allocator: NodeAllocator, time: TimedSearch) {
    this.allocator = allocator;
    this.time = time;
  }
}

interface DeviceSearchesOptions {
  readonly makeAllocator: MakeAllocator;
  /** What an allocator needs beside its time, as it is now. */
  readonly needs: () => Omit<AllocatorNeeds, 'isOverdue'>;
  readonly accounts: SearchAccounts;
  /** For one node, in milliseconds; 0: whoever runs the scheduler wants no limit at all. */
  readonly filterTimeoutMs: number;
  readonly clock: Pick<SteadyClock, 'elapsed'>;
}

/** Searches for devices on nodes, within the time that a node and a namespace have. */
export class DeviceSearches {
  readonly #options: DeviceSearchesOptions;
  /** By the clock's `elapsed`. */
  #deadlineMs = Number.POSITIVE_INFINITY;

  constructor(options: DeviceSearchesOptions) {
    this.#options = options;
  }

  /** For one attempt. Throws for a pod whose search has taken too long before. */
  begin(pod: { readonly namespace: string; readonly uid: string }): NodeSearches {
    const { accounts, makeAllocator, needs, clock } = this.#options;
    const waitMs = accounts.waitMs(pod);
    if (waitMs > 0 && !this.#isUnlimited) {
      const often = `searches for devices of the namespace ${pod.namespace} have taken too long`;
      throw new Error(`${often}: the pod is not searched for in the next ${Math.ceil(waitMs / 1000)} s`);
    }
    const isOverdue = (): boolean => clock.elapsed() > this.#deadlineMs;
    return new NodeSearches(makeAllocator({ ...needs(), isOverdue }), accounts.search(pod));
  }

  /** What the claims get on the node. Throws where they cannot be had anywhere, and where the time is over. */
  on(searches: NodeSearches, node: WireNode, claims: readonly ResourceClaim[]): FoundOnNode {
    const { time, seen } = searches;
    // preemption asks of one node again and again
    const known = seen.get(node);
    if (known !== undefined) return known;
    const { filterTimeoutMs, clock } = this.#options;
    const leftMs = time.begin();
    const isOwnLimit = filterTimeoutMs < leftMs;
    this.#deadlineMs = clock.elapsed() + (this.#isUnlimited ? Number.POSITIVE_INFINITY : Math.min(filterTimeoutMs, leftMs));
    try {
      const found = this.#search(searches, node, claims);
      seen.set(node, found);
      return found;
    } catch (error) {
      if (!(error instanceof DeviceAllocationError) || error.scope !== 'time') throw error;
      time.breakOff();
      const what = `node ${node.metadata?.name}: timed out trying to allocate devices`;
      const all = `${what} for ${namesOfClaims(claims)}: searching has taken ${time.words}`;
      throw new Error(isOwnLimit ? what : all, { cause: error });
    }
  }

  #search({ allocator, time }: NodeSearches, node: WireNode, claims: readonly ResourceClaim[]): FoundOnNode {
    const startedAt = this.#options.clock.elapsed();
    try {
      const found = allocator.allocate(node, claims);
      return found?.length === claims.length ? found : 'cannot allocate all claims';
    } catch (error) {
      if (error instanceof DeviceAllocationError && error.scope === 'node') return errorText(error);
      throw error;
    } finally {
      if (!this.#isUnlimited) time.end(startedAt);
    }
  }

  get #isUnlimited(): boolean {
    return this.#options.filterTimeoutMs === 0;
  }
}
