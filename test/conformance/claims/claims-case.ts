import type { WireNode, WirePod } from '../../../src/api/json/types.ts';
import type { DeviceClass, ResourceClaim, ResourceSlice } from '../../../src/scheduler/devices/device-types.ts';
import type { KindCase } from '../kinds/case-kind.ts';

/** A write of a claim: what of it is there afterwards. */
export interface RecordedWrite {
  /** `object NAME` for the finalizers, `status NAME`. */
  readonly what: string;
  readonly finalizers?: readonly string[];
  readonly status?: object;
}

/** Why a plugin says no. `Error`: it could not say. */
export interface RecordedRejection {
  readonly code: string;
  readonly reasons: readonly string[];
}

/** What became of the pod on one node: Reserve, PreBind, and then Unreserve. */
export interface RecordedEnd {
  readonly score?: number;
  readonly error?: string;
  readonly writes?: readonly RecordedWrite[];
  readonly undone?: readonly RecordedWrite[];
}

/** What the plugin did. */
export interface PlayedClaims {
  readonly gate?: readonly string[];
  readonly skip?: boolean;
  readonly preFilter?: RecordedRejection;
  readonly failed?: Readonly<Record<string, RecordedRejection>>;
  readonly postFilter?: string;
  readonly writes?: readonly RecordedWrite[];
  readonly fits?: Readonly<Record<string, RecordedEnd>>;
  readonly hints?: readonly string[];
}

/** A change in the cluster, and whether it helps the pod. */
export interface RecordedClaimEvent {
  readonly resource: string;
  readonly action: string;
  readonly before?: object;
  readonly after?: object;
}

/** A recording of one pod with claims of devices. */
export interface ClaimsCase extends KindCase {
  readonly nodes: readonly WireNode[];
  readonly pod: WirePod;
  readonly classes: readonly DeviceClass[];
  readonly slices: readonly ResourceSlice[];
  readonly claims: readonly ResourceClaim[];
  /** Claims that the server has in another version than the watch has brought. */
  readonly server?: readonly ResourceClaim[];
  /** The names of claims that are gone from the server. */
  readonly gone?: readonly string[];
  readonly events: readonly RecordedClaimEvent[];
  readonly out: PlayedClaims;
}

/** What is wrong with the case; undefined when it can be played. */
export function claimsCaseProblem(value: unknown): string | undefined {
  const { nodes, pod, classes, slices, claims, events, out } = value as Partial<ClaimsCase>;
  if (![nodes, classes, slices, claims, events].every(Array.isArray))
    return 'a claims case without nodes, classes, slices, claims or events';
  if (typeof pod !== 'object' || pod === null) return 'a claims case without a pod';
  if (typeof out !== 'object' || out === null) return 'a claims case without what came of it';
  return undefined;
}
