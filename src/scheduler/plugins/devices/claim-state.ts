import type { WireNode } from '../../../api/json/types.ts';
import { type NodeTest, parseNodeSelectorTerm } from '../../../api/selectors/node-selector.ts';
import type { ClaimAllocation, ResourceClaim } from '../../devices/device-types.ts';
import { type StateData, stateKey } from '../../framework/cycle-state.ts';
import type { NodeSearches } from './device-searches.ts';
import type { ChosenExtendedClaim, ExtendedClaim, ExtendedNeeds } from './extended-needs.ts';

/** What the pod would get on a node. */
export interface NodeDevices {
  /** For the claims without devices, in their order, and then for `extended`. */
  readonly allocations: readonly ClaimAllocation[];
  readonly extended: ExtendedClaim | undefined;
}

/** What the pod asks for beside the claims that it names. */
export interface ExtendedPart {
  readonly needs: ExtendedNeeds;
  /** The claim that an attempt before this one has left: it has to go first. */
  readonly left: ResourceClaim | undefined;
}

/** What is known of the claims of the pod that is scheduled. What-if questions change nothing of it. */
export class ClaimState implements StateData<ClaimState> {
  /** As they are known; after they were written as the server has them. */
  readonly claims: ResourceClaim[];
  /** Undefined where no class stands for anything that the pod asks for. */
  readonly extended: ExtendedPart | undefined;
  /** Undefined where nothing can need devices, and once the pod has its node. */
  searches: NodeSearches | undefined;
  /** What the pod would get on each node. */
  readonly byNode = new Map<string, NodeDevices>();
  /** Claims with devices that cannot be had on some node, by their places. */
  readonly unavailable = new Set<number>();
  /** What the claim at each place is to have on the node that was chosen. */
  readonly reserved = new Map<number, ClaimAllocation>();
  /** What gives the pod its extended resources on the node that was chosen; undefined where that has them itself. */
  chosen: ChosenExtendedClaim | undefined;
  /** Where the devices of the claim at each place can be had; undefined: everywhere. */
  readonly #places: readonly (NodeTest | undefined)[];

  /** Throws ERR_INVALID_ARGUMENT for a node selector that breaks a rule. */
  constructor(claims: readonly ResourceClaim[], extended: ExtendedPart | undefined, searches: NodeSearches | undefined) {
    this.claims = [...claims];
    this.extended = extended;
    this.searches = searches;
    this.#places = claims.map(placeOf);
  }

  /** The claims that have no devices yet. */
  get toAllocate(): readonly ResourceClaim[] {
    return this.claims.filter(hasNoDevices);
  }

  /** Those that the pod names, and the one for its extended resources once the server has it. */
  get boundClaims(): readonly ResourceClaim[] {
    return this.chosen?.made === undefined ? this.claims : [...this.claims, this.chosen.made];
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
