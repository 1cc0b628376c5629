import type { ResourceV1ResourceClaim, V1AllocationResult, V1DeviceClass, V1ResourceSlice } from '@kubernetes/client-node';

/** A type of client-node as JSON on the wire: it names the members `int` and `default` otherwise, since these are words of languages. */
type WireMembers<T> = T extends Date
  ? string
  : T extends readonly (infer E)[]
    ? readonly WireMembers<E>[]
    : T extends object
      ? { readonly [K in keyof T as K extends `_${infer Name}` ? Name : K]: WireMembers<T[K]> }
      : T;

/** What a driver says of its devices, as it stands in JSON. */
export interface ResourceSlice extends WireMembers<V1ResourceSlice> {}
/** A class of devices, as it stands in JSON. */
export interface DeviceClass extends WireMembers<V1DeviceClass> {}
/** A claim of devices, as it stands in JSON. */
export interface ResourceClaim extends WireMembers<ResourceV1ResourceClaim> {}
/** What a claim was given, as it stands in JSON. */
export interface ClaimAllocation extends WireMembers<V1AllocationResult> {}

export type SliceSpec = ResourceSlice['spec'];
export type SliceDevice = NonNullable<SliceSpec['devices']>[number];
export type DeviceAttribute = NonNullable<SliceDevice['attributes']>[string];
export type DeviceCapacity = NonNullable<SliceDevice['capacity']>[string];
export type DeviceNodeSelector = NonNullable<SliceSpec['nodeSelector']>;
type ClaimedDevices = NonNullable<ResourceClaim['spec']['devices']>;
export type ClaimRequest = NonNullable<ClaimedDevices['requests']>[number];
export type ExactDeviceRequest = NonNullable<ClaimRequest['exactly']>;
export type DeviceSubRequest = NonNullable<ClaimRequest['firstAvailable']>[number];
export type DeviceConstraint = NonNullable<ClaimedDevices['constraints']>[number];
export type DeviceToleration = NonNullable<ExactDeviceRequest['tolerations']>[number];
type AllocatedParts = NonNullable<ClaimAllocation['devices']>;
export type AllocatedDevice = NonNullable<AllocatedParts['results']>[number];
export type AllocatedConfig = NonNullable<AllocatedParts['config']>[number];

/** Which device it is. */
export interface DeviceId {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

/** One text for each device. A driver and a device have no slash in their names; a pool may have some. */
export function deviceKey({ driver, pool, device }: DeviceId): string {
  return `${driver}/${pool}/${device}`;
}

/** What is taken of the cluster's devices, by {@link deviceKey}. Devices with admin access are not taken. */
export interface AllocatedDevices {
  /** Taken as a whole. */
  readonly devices: ReadonlySet<string>;
  /** Devices of which a share is taken. */
  readonly sharedDevices: ReadonlySet<string>;
  /** What all shares of a device use up together. */
  readonly consumedCapacity: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** What a selector is asked about. */
export interface SelectableDevice {
  readonly driver: string;
  readonly attributes: Readonly<Record<string, DeviceAttribute>>;
  readonly capacity: Readonly<Record<string, DeviceCapacity>>;
  readonly allowMultipleAllocations?: boolean;
}

/** What tells whether an expression selects a device. */
export interface SelectorJudge {
  matches(expression: string, device: SelectableDevice): boolean;
}
