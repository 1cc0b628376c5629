// Behaviour of what is in use in k8s.io/dynamic-resource-allocation/structured/internal/incubating, v0.36.3.
import { amountOrNone, type CapacityUse } from './capacity-rules.ts';
import { type AllocatedDevices, deviceKey } from './device-types.ts';
import type { PooledDevice } from './pooled-device.ts';
import type { PoolCounters, SlicePool } from './slice-pools.ts';

/** Nothing is as large: what cannot be read leaves no room. */
const beyondAll = 10n ** 300n;

/** What other claims have of the cluster's devices, read once for all nodes. */
export class TakenDevices {
  readonly #allocated: AllocatedDevices;
  readonly #consumed = new Map<string, ReadonlyMap<string, bigint>>();
  readonly #left = new WeakMap<PoolCounters, ReadonlyMap<string, bigint>>();

  constructor(allocated: AllocatedDevices) {
    this.#allocated = allocated;
  }

  hasWhole(device: PooledDevice): boolean {
    return this.#allocated.devices.has(device.key);
  }

  /** True where claims use up some of the device's capacity. */
  hasShares(device: PooledDevice): boolean {
    return this.#allocated.consumedCapacity.has(device.key);
  }

  /** What is used up of a device's capacities. */
  consumed(device: PooledDevice): ReadonlyMap<string, bigint> | undefined {
    const given = this.#allocated.consumedCapacity.get(device.key);
    if (given === undefined) return undefined;
    const known = this.#consumed.get(device.key);
    if (known !== undefined) return known;
    const read = new Map(Object.entries(given).map(([name, quantity]) => [name, amountOrNone(quantity)?.nano ?? beyondAll]));
    this.#consumed.set(device.key, read);
    return read;
  }

  /** What the counters of a pool have left; it may be below zero. */
  countersLeft(counters: PoolCounters): ReadonlyMap<string, bigint> {
    const known = this.#left.get(counters);
    if (known !== undefined) return known;
    const left = new Map(counters.sizes);
    for (const slice of counters.users) {
      const { driver, pool, devices } = slice.spec;
      for (const [index, { name, consumesCounters }] of (devices ?? []).entries()) {
        if (consumesCounters == null || !this.#isTaken(deviceKey({ driver, pool: pool.name, device: name }))) continue;
        for (const [counter, nano] of slice.devices?.[index]?.counters ?? []) left.set(counter, (left.get(counter) ?? 0n) - nano);
      }
    }
    this.#left.set(counters, left);
    return left;
  }

  #isTaken(key: string): boolean {
    const { devices, sharedDevices, consumedCapacity } = this.#allocated;
    return devices.has(key) || sharedDevices.has(key) || consumedCapacity.has(key);
  }
}

/** What a search has taken of a device, so that it can be given back. */
export interface TakenDevice {
  readonly device: PooledDevice;
  readonly pool: SlicePool;
  readonly claim: number;
  readonly usesCounters: boolean;
  /** What a share uses up; undefined for a device that was taken whole. */
  readonly share: CapacityUse | undefined;
  readonly isFirstShare: boolean;
}

/** What one search has taken so far on a node, beside what other claims have. */
export class DeviceLedger {
  readonly #taken: TakenDevices;
  readonly #byClaim = new Map<PooledDevice, Set<number>>();
  readonly #shares = new Map<PooledDevice, Map<string, bigint>>();
  readonly #counters = new Map<SlicePool, Map<string, bigint>>();

  constructor(taken: TakenDevices) {
    this.#taken = taken;
  }

  isInUse(device: PooledDevice): boolean {
    return (this.#byClaim.get(device)?.size ?? 0) > 0 || this.#taken.hasWhole(device);
  }

  isInUseBy(device: PooledDevice, claim: number): boolean {
    return this.#byClaim.get(device)?.has(claim) ?? false;
  }

  /** True where the device has that much left. */
  hasRoom(device: PooledDevice, use: CapacityUse): boolean {
    const consumed = this.#taken.consumed(device);
    const shares = this.#shares.get(device);
    return device.capacities.every(({ name, value }) => {
      const sum = (use.get(name)?.nano ?? 0n) + (consumed?.get(name) ?? 0n) + (shares?.get(name) ?? 0n);
      return sum <= value.nano;
    });
  }

  /** True where the counters have what the device uses, whether or not it has been counted for another share. */
  hasCounters(pool: SlicePool, device: PooledDevice): boolean {
    if (device.counters.size === 0 || pool.counters === undefined) return true;
    const left = this.#taken.countersLeft(pool.counters);
    for (const nano of left.values()) if (nano < 0n) return false;
    const used = this.#counters.get(pool);
    for (const [counter, nano] of device.counters) {
      if (nano + (used?.get(counter) ?? 0n) > (left.get(counter) ?? 0n)) return false;
    }
    return true;
  }

  /** What a counter of a pool has left for this search. */
  counterLeft(pool: SlicePool, counter: string): bigint {
    const left = pool.counters === undefined ? 0n : (this.#taken.countersLeft(pool.counters).get(counter) ?? 0n);
    return left - (this.#counters.get(pool)?.get(counter) ?? 0n);
  }

  /** True where another share has been counted, so that this one need not be. */
  isCounted(device: PooledDevice): boolean {
    return device.isShared && (this.#shares.has(device) || this.#taken.hasShares(device));
  }

  /** Whoever takes it has seen that there are counters and room for it. */
  take(claim: number, pool: SlicePool, device: PooledDevice, use: CapacityUse): TakenDevice {
    const usesCounters = device.counters.size > 0 && !this.isCounted(device);
    if (usesCounters) this.#count(pool, device, 1n);
    if (!device.isShared) {
      const claims = this.#byClaim.get(device) ?? new Set();
      this.#byClaim.set(device, claims.add(claim));
      return { device, pool, claim, usesCounters, share: undefined, isFirstShare: false };
    }
    const isFirstShare = !this.#shares.has(device);
    this.#addShare(device, use, 1n);
    return { device, pool, claim, usesCounters, share: use, isFirstShare };
  }

  giveBack({ device, pool, claim, usesCounters, share, isFirstShare }: TakenDevice): void {
    if (share === undefined) this.#byClaim.get(device)?.delete(claim);
    else if (isFirstShare) this.#shares.delete(device);
    else this.#addShare(device, share, -1n);
    if (usesCounters) this.#count(pool, device, -1n);
  }

  #addShare(device: PooledDevice, use: CapacityUse, sign: bigint): void {
    const shares = this.#shares.get(device) ?? new Map<string, bigint>();
    for (const [name, { nano }] of use) shares.set(name, (shares.get(name) ?? 0n) + sign * nano);
    this.#shares.set(device, shares);
  }

  #count(pool: SlicePool, device: PooledDevice, sign: bigint): void {
    const used = this.#counters.get(pool) ?? new Map<string, bigint>();
    for (const [counter, nano] of device.counters) used.set(counter, (used.get(counter) ?? 0n) + sign * nano);
    this.#counters.set(pool, used);
  }
}
