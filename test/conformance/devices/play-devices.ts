import { QuantityTotal } from '../../../src/api/quantity/quantity-arithmetic.ts';
import { ClaimAllocator } from '../../../src/scheduler/devices/claim-allocator.ts';
import { DeviceAllocationError } from '../../../src/scheduler/devices/device-allocation-error.ts';
import { type AllocatedDevices, deviceKey } from '../../../src/scheduler/devices/device-types.ts';
import { DeviceSelectors } from '../../../src/scheduler/devices/selectors/device-selectors.ts';
import { SlicePools } from '../../../src/scheduler/devices/slice-pools.ts';
import type { DevicesCase, NodeDevices, RecordedShare } from './devices-case.ts';

/** Asks our allocator about one node after the other. */
export function playDevices({ slices, classes, claims, allocated, nodes }: DevicesCase): Readonly<Record<string, NodeDevices>> {
  let shares = 0;
  const allocator = new ClaimAllocator({
    pools: new SlicePools(slices),
    deviceClass: (name) => classes.find(({ metadata }) => metadata?.name === name),
    allocated: allocatedOf(allocated),
    selectors: new DeviceSelectors(),
    shareId: () => `share-${++shares}`,
  });
  const judged = nodes.map((node): [string, NodeDevices] => {
    const name = node.metadata?.name ?? '';
    shares = 0;
    try {
      const results = allocator.allocate(node, claims);
      return [name, results === undefined ? { none: true } : { results: plain(results) }];
    } catch (error) {
      if (!(error instanceof DeviceAllocationError) || error.scope === 'time') throw error;
      return [name, { error: error.scope }];
    }
  });
  return Object.fromEntries(judged);
}

function allocatedOf({ devices, shares }: DevicesCase['allocated']): AllocatedDevices {
  return {
    devices: new Set(devices.map(deviceKey)),
    sharedDevices: new Set(shares.map(deviceKey)),
    consumedCapacity: consumedOf(shares),
  };
}

function consumedOf(shares: readonly RecordedShare[]): ReadonlyMap<string, Readonly<Record<string, string>>> {
  const consumed = new Map<string, Record<string, string>>();
  for (const { consumedCapacity, ...id } of shares) {
    if (consumedCapacity === undefined) continue;
    const known = consumed.get(deviceKey(id)) ?? {};
    for (const [name, quantity] of Object.entries(consumedCapacity)) {
      const sum = new QuantityTotal(known[name] ?? '0');
      sum.add(quantity);
      known[name] = sum.toString();
    }
    consumed.set(deviceKey(id), known);
  }
  return consumed;
}

/** As it stands in JSON. */
function plain<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
