import type { WireNode } from '../../../src/api/json/types.ts';
import type {
  ClaimAllocation,
  DeviceClass,
  DeviceId,
  ResourceClaim,
  ResourceSlice,
} from '../../../src/scheduler/devices/device-types.ts';
import type { KindCase } from '../kinds/case-kind.ts';

/** A share of a device that a claim has. */
export interface RecordedShare extends DeviceId {
  readonly shareID: string;
  readonly consumedCapacity?: Readonly<Record<string, string>>;
}

/** What one node could give. Shares are named by their numbers. */
export interface NodeDevices {
  readonly results?: readonly ClaimAllocation[];
  readonly none?: boolean;
  /** Whom the failure concerns. */
  readonly error?: 'node' | 'claims';
}

/** A recording of which devices of each node claims would be given. */
export interface DevicesCase extends KindCase {
  readonly slices: readonly ResourceSlice[];
  readonly classes: readonly DeviceClass[];
  readonly claims: readonly ResourceClaim[];
  readonly allocated: { readonly devices: readonly DeviceId[]; readonly shares: readonly RecordedShare[] };
  readonly nodes: readonly WireNode[];
  /** By the node's name. */
  readonly out: Readonly<Record<string, NodeDevices>>;
}

/** What is wrong with the case; undefined when it can be played. */
export function devicesCaseProblem(value: unknown): string | undefined {
  const { slices, classes, claims, allocated, nodes, out } = value as Partial<DevicesCase>;
  if (![slices, classes, claims, nodes].every(Array.isArray)) return 'a devices case without slices, classes, claims or nodes';
  if (![allocated?.devices, allocated?.shares].every(Array.isArray)) return 'a devices case without what is allocated';
  if (typeof out !== 'object' || out === null) return 'a devices case without what the nodes give';
  return undefined;
}
