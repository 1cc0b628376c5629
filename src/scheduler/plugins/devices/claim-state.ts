import type { WireNode } from '../../../api/json/types.ts';
import { type NodeTest, parseNodeSelectorTerm } from '../../../api/selectors/node-selector.ts';
import type { ClaimAllocation, ResourceClaim } from '../../devices/device-types.ts';
import { type StateData, stateKey } from '../../framework/cycle-state.ts';
import type { TimedSearch } from './search-accounts.ts';

/** What finds devices for claims on a node. */
export interface NodeAllocator {
  /** What each claim gets, in their order; undefined where the node has not enough. Throws DeviceAllocationError. */
  allocate(node: WireNode, claims: readonly ResourceClaim[]): readonly ClaimAllocation[] | undefined;
}

export type SearchedNode = Parameters<NodeAllocator['allocate']>[0];
/** A text says why there are no devices. */
export type FoundOnNode = readonly ClaimAllocation[] | string;

/** What one attempt finds on nodes, and how long that takes. */
export class NodeSearches {
  readonly allocator: NodeAllocator;
  readonly time: TimedSearch;
  /** What was found on each node that was looked at. */
  readonly seen = new Map<SearchedNode, FoundOnNode>();

  constructor(allocator: NodeAllocator, time: TimedSearch) {
    this.allocator = allocator;
    this.time = time;
  }
}

/** What is known of the claims of the pod that is scheduled. What-if questions change nothing of it. */
export class ClaimState implements StateData<ClaimState> {
  /** As they are known; after they were written as the server has them. */
  readonly claims: ResourceClaim[];
  /** Undefined where all claims have their devices, and once the pod has its node. */
  searches: NodeSearches | undefined;
  /** What the claims without devices would get on each node, in their order. */
  readonly byNode = new Map<string, readonly ClaimAllocation[]>();
  /** Claims with devices that cannot be had on some node, by their places. */
  readonly unavailable = new Set<number>();
  /** What the claim at each place is to have on the node that was chosen. */
  readonly reserved = new Map<number, ClaimAllocation>();
  /** Where the devices of the claim at each place can be had; undefined: everywhere. */
  readonly #places: readonly (NodeTest | undefined)[];

  /** Throws ERR_INVALID_ARGUMENT for a node selector that breaks a rule. */
  constructor(claims: readonly ResourceClaim[], searches: NodeSearches | undefined) {
    this.claims = [...claims];
    this.searches = searches;
    this.#places = claims.map(placeOf);
  }

  /** The claims that have no devices yet. */
  get toAllocate(): readonly ResourceClaim[] {
    return this.claims.filter(hasNoDevices);
  }

  isReached(index: number, node: WireNode): boolean {
    return this.#places[index]?.(node) ?? true;
  }

  /** Binding may take minutes: only what was chosen is kept. */
  forgetNodes(): void {
    this.searches = undefined;
    this.byNode.clear();
    this.unavailable.clear();
  }

  clone(): ClaimState {
    return this;
  }
}

export const claimsKey = stateKey<ClaimState>('DynamicResources');

export function hasNoDevices({ status }: ResourceClaim): boolean {
  return status?.allocation == null;
}

function placeOf({ status }: ResourceClaim): NodeTest | undefined {
  const { nodeSelector } = status?.allocation ?? {};
  if (nodeSelector == null) return undefined;
  const tests = (nodeSelector.nodeSelectorTerms ?? []).map((term, index) =>
    parseNodeSelectorTerm(`nodeSelector.nodeSelectorTerms[${index}]`, term),
  );
  return (node) => tests.some((test) => test(node));
}
