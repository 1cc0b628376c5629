import type { WireNode } from '../../../../src/api/json/types.ts';
import { ClaimAllocator, type ClaimAllocatorOptions } from '../../../../src/scheduler/devices/claim-allocator.ts';
import type {
  AllocatedDevices,
  ClaimAllocation,
  ClaimRequest,
  DeviceClass,
  ExactDeviceRequest,
  ResourceClaim,
  ResourceSlice,
  SelectableDevice,
  SliceDevice,
  SliceSpec,
} from '../../../../src/scheduler/devices/device-types.ts';
import { SlicePools } from '../../../../src/scheduler/devices/slice-pools.ts';

export const driver = 'gpu.example.com';

/** A node of this name and with these labels. */
export function nodeOf(name = 'n0', labels: Readonly<Record<string, string>> = {}): WireNode {
  return { metadata: { name, labels: { ...labels } } };
}

/** A device with these attributes; a text stands for a string, a number for an int. */
export function deviceOf(
  name: string,
  attributes: Readonly<Record<string, string | number>> = {},
  more: Partial<SliceDevice> = {},
): SliceDevice {
  const typed = Object.entries(attributes).map(([key, value]) => [
    key,
    typeof value === 'number' ? { int: value } : { string: value },
  ]);
  return { name, attributes: Object.fromEntries(typed), ...more };
}

/** Devices with these names. */
export function devicesNamed(...names: readonly string[]): readonly SliceDevice[] {
  return names.map((name) => deviceOf(name));
}

/** Devices `d0`, `d1` and so on. */
export function manyDevices(
  count: number,
  attributesOf: (index: number) => Readonly<Record<string, string | number>> = () => ({}),
): readonly SliceDevice[] {
  return Array.from({ length: count }, (_, index) => deviceOf(`d${index}`, attributesOf(index)));
}

/** A slice that is a whole pool on the node n0, unless `more` says otherwise. */
export function sliceOf(name: string, devices: readonly SliceDevice[], more: Partial<SliceSpec> = {}): ResourceSlice {
  const place = 'allNodes' in more || 'nodeSelector' in more || 'perDeviceNodeSelection' in more ? {} : { nodeName: 'n0' };
  return { metadata: { name }, spec: { driver, pool: poolOf('p'), ...place, devices, ...more } };
}

/** A pool of so many slices. */
export function poolOf(name: string, resourceSliceCount = 1, generation = 1): SliceSpec['pool'] {
  return { name, resourceSliceCount, generation };
}

/** A request of so many devices of the class `any`, or of all. */
export function requestOf(name: string, count: number | 'All' = 1, more: Partial<ExactDeviceRequest> = {}): ClaimRequest {
  return { name, exactly: { deviceClassName: 'any', ...modeOf(count), ...more } };
}

/** A request with alternatives of so many devices. */
export function alternativesOf(name: string, ...counts: readonly (number | 'All')[]): ClaimRequest {
  return {
    name,
    firstAvailable: counts.map((count, index) => ({ name: `s${index}`, deviceClassName: 'any', ...modeOf(count) })),
  };
}

function modeOf(count: number | 'All') {
  return count === 'All' ? { allocationMode: 'All' } : { allocationMode: 'ExactCount', count };
}

/** A selector of devices with an attribute, which {@link judgeByText} understands. */
export function attributeSelector(attribute: string): { readonly cel: { readonly expression: string } } {
  return { cel: { expression: attribute } };
}

/** Selects a device that has an attribute of the expression's name; `!` fails. */
export function judgeByText(expression: string, device: SelectableDevice): boolean {
  if (expression === '!') throw new RangeError('no such key');
  return Object.hasOwn(device.attributes, expression);
}

/** A claim of these requests. */
export function claimOf(
  requests: readonly ClaimRequest[],
  more: Partial<NonNullable<ResourceClaim['spec']['devices']>> = {},
  name = 'c',
): ResourceClaim {
  return { metadata: { name, namespace: 'd' }, spec: { devices: { requests, ...more } } };
}

export const nothingAllocated: AllocatedDevices = { devices: new Set(), sharedDevices: new Set(), consumedCapacity: new Map() };

/** The class `any`, of all devices. */
export const anyClass: DeviceClass = { metadata: { name: 'any' }, spec: {} };

/** An allocator of these slices. Shares are numbered. */
export function allocatorOf(slices: readonly ResourceSlice[], more: Partial<ClaimAllocatorOptions> = {}): ClaimAllocator {
  let shares = 0;
  return new ClaimAllocator({
    pools: new SlicePools(slices),
    deviceClass: (name) => (name === 'any' ? anyClass : undefined),
    allocated: nothingAllocated,
    selectors: { matches: judgeByText },
    shareId: () => `share-${++shares}`,
    ...more,
  });
}

/** The names of the devices of each claim; `none` where they do not fit. */
export function namesOf(allocations: readonly ClaimAllocation[] | undefined): readonly (readonly string[])[] | 'none' {
  return allocations?.map(({ devices }) => (devices?.results ?? []).map(({ device }) => device)) ?? 'none';
}

/** Which devices one claim is given on n0. */
export function given(allocator: ClaimAllocator, ...claims: readonly ResourceClaim[]): readonly (readonly string[])[] | 'none' {
  return namesOf(allocator.allocate(nodeOf(), claims));
}
