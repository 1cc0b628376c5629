// Behaviour of k8s.io/dynamic-resource-allocation/structured with the default feature gates, v0.36.3.
import type { WireNode } from '../../api/json/types.ts';
import { allocationResult } from './allocation-result.ts';
import { DeviceAllocationError, requireTime } from './device-allocation-error.ts';
import { attributeConstraint } from './device-constraints.ts';
import { DeviceLedger, TakenDevices } from './device-ledger.ts';
import { DeviceSearch } from './device-search.ts';
import type { AllocatedDevices, ClaimAllocation, DeviceClass, ResourceClaim, SelectorJudge } from './device-types.ts';
import { claimName, type RequestChoices, requestPlans } from './request-plan.ts';
import type { WantedClaim } from './search-parts.ts';
import type { SlicePool, SlicePools } from './slice-pools.ts';

/** What an allocator works on. Nothing of it changes while the allocator is asked about a node. */
export interface ClaimAllocatorOptions {
  readonly pools: Pick<SlicePools, 'reachedBy'>;
  readonly deviceClass: (name: string) => DeviceClass | undefined;
  /** What claims have, those that were promised it included. */
  readonly allocated: AllocatedDevices;
  readonly selectors: SelectorJudge;
  /** A new id for a share of a device. */
  readonly shareId: () => string;
  /** True once a search has to end, however far it is. It is asked every now and then. */
  readonly isOverdue?: () => boolean;
}

/** Which devices of a node claims would be given. It changes nothing, and reads what is the same for all nodes only once. */
export class ClaimAllocator {
  readonly #options: ClaimAllocatorOptions;
  readonly #taken: TakenDevices;
  readonly #isOverdue: () => boolean;
  readonly #judge: SelectorJudge;
  readonly #plans = new WeakMap<ResourceClaim, readonly RequestChoices[]>();

  constructor(options: ClaimAllocatorOptions) {
    this.#options = options;
    this.#taken = new TakenDevices(options.allocated);
    this.#isOverdue = options.isOverdue ?? (() => false);
    const { selectors } = options;
    this.#judge = {
      // one expression may take as long as thousands of looks at devices
      matches: (expression, device) => {
        requireTime(this.#isOverdue);
        return selectors.matches(expression, device);
      },
    };
  }

  /** The allocation of each claim, in order; undefined where the claims do not fit the node. Throws DeviceAllocationError. */
  allocate(node: WireNode, claims: readonly ResourceClaim[]): readonly ClaimAllocation[] | undefined {
    const pools = this.#options.pools.reachedBy(node);
    const isOverdue = this.#isOverdue;
    requireTime(isOverdue);
    const parts = { node, pools, ledger: new DeviceLedger(this.#taken), isOverdue };
    const wanted = claims.map((claim) => this.#wanted(claim));
    const found = new DeviceSearch(parts, wanted).run();
    if (found === undefined) {
      refuseInvalid(pools);
      return undefined;
    }
    return claims.map((claim, index) =>
      allocationResult(claim, found[index] ?? { devices: [], plans: [] }, node.metadata?.name ?? '', this.#options.shareId),
    );
  }

  #wanted(claim: ResourceClaim): WantedClaim {
    const name = claimName(claim);
    const given = claim.spec.devices?.constraints ?? [];
    return {
      name,
      requests: () => this.#plansOf(claim),
      constraints: () => given.map((one, index) => attributeConstraint(`claim ${name}, constraint #${index}`, one)),
    };
  }

  #plansOf(claim: ResourceClaim): readonly RequestChoices[] {
    const known = this.#plans.get(claim);
    if (known !== undefined) return known;
    const plans = requestPlans(claim, this.#options.deviceClass, this.#judge);
    this.#plans.set(claim, plans);
    return plans;
  }
}

/** An invalid pool may have what is missing: whoever looks for the reason has to know. */
function refuseInvalid(pools: readonly SlicePool[]): void {
  if (pools.some(({ state }) => state === 'invalid')) {
    throw new DeviceAllocationError('node', 'invalid resource pools were encountered');
  }
}
