import type { WireNode } from '../../api/json/types.ts';
import type { AttributeConstraint } from './device-constraints.ts';
import type { DeviceLedger, TakenDevice } from './device-ledger.ts';
import type { PooledDevice } from './pooled-device.ts';
import type { RequestChoices, RequestPlan } from './request-plan.ts';
import type { SlicePool } from './slice-pools.ts';

/** No claim is given more devices. */
export const mostDevices = 32;

/** A claim as it is searched for. */
export interface SearchedClaim {
  readonly requests: readonly RequestChoices[];
  readonly constraints: readonly AttributeConstraint[];
}

/** A claim before it is searched for. Each part is made when its turn comes, so that the first error of all is the one that is told. */
export interface WantedClaim {
  readonly name: string;
  readonly requests: () => readonly RequestChoices[];
  /** Constraints count what they are given, so that each search has its own. */
  readonly constraints: () => readonly AttributeConstraint[];
}

/** A device of a pool. */
export interface Candidate {
  readonly pool: SlicePool;
  readonly device: PooledDevice;
}

/** A device that was found for a request. */
export interface FoundDevice extends TakenDevice {
  readonly plan: RequestPlan;
}

/** What was found for a claim. */
export interface FoundClaim {
  readonly devices: readonly FoundDevice[];
  /** For each request, which of its alternatives was taken. */
  readonly plans: readonly RequestPlan[];
}

/** What one search works on. */
export interface SearchParts {
  readonly node: WireNode;
  readonly pools: readonly SlicePool[];
  readonly claims: readonly SearchedClaim[];
  readonly ledger: DeviceLedger;
  readonly isOverdue: () => boolean;
}

/** A place in the pools where a request looks on. */
export interface SearchPlace {
  readonly pool: number;
  readonly device: number;
}

/** One device that is wanted. */
export interface Want {
  readonly claim: number;
  readonly request: number;
  /** Which alternative; undefined before one was chosen. */
  readonly choice: number | undefined;
  readonly index: number;
  readonly place: SearchPlace;
}
