import type { WirePod } from '../../../src/api/json/types.ts';
import type { ResourceClaim } from '../../../src/scheduler/devices/device-types.ts';
import type { ClaimsCase, RecordedRejection } from '../claims/claims-case.ts';
import { claimsCaseProblem } from '../claims/claims-case.ts';

/** A write: what of it is there afterwards. */
export interface ExtendedWrite {
  /** `create`, `object NAME` for the finalizers, `status NAME`, `delete NAME`, `pod NAME`. */
  readonly what: string;
  readonly made?: ResourceClaim;
  readonly finalizers?: readonly string[];
  readonly status?: object;
  /** What the pod's status says of the claim. */
  readonly extended?: object;
}

/** Why a plugin says no. */
export interface PluginRejection extends RecordedRejection {
  readonly plugin?: string;
}

/** What became of the pod on one node: Reserve, PreBind, and then Unreserve. */
export interface ExtendedEnd {
  readonly score?: number;
  readonly error?: string;
  readonly writes?: readonly ExtendedWrite[];
  readonly undone?: readonly ExtendedWrite[];
}

/** What NodeResourcesFit and DynamicResources did. */
export interface PlayedExtended {
  /** NodeResourcesFit says the same of all pods like this one. */
  readonly signed?: boolean;
  /** For each event what each plugin says that asked for it. */
  readonly hints?: readonly Readonly<Record<string, string>>[];
  readonly skip?: boolean;
  readonly preFilter?: PluginRejection;
  readonly failed?: Readonly<Record<string, PluginRejection>>;
  readonly postFilter?: string;
  readonly writes?: readonly ExtendedWrite[];
  readonly fits?: Readonly<Record<string, ExtendedEnd>>;
}

/** A recording of one pod with extended resources. */
export interface ExtendedClaimsCase extends Omit<ClaimsCase, 'out' | 'server' | 'gone'> {
  /** What the server refuses: `create`, `object`, `status`, `pod` or `delete`. */
  readonly refuse?: string;
  readonly pod: WirePod;
  readonly out: PlayedExtended;
}

/** What is wrong with the case; undefined when it can be played. */
export function extendedClaimsCaseProblem(value: unknown): string | undefined {
  return claimsCaseProblem(value)?.replace('a claims case', 'a case of extended claims');
}
