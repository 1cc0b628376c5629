// Behaviour of pkg/scheduler/framework/plugins/dynamicresources/allocateddevices.go, v1.36.3.
import { canonicalQuantity } from '../../../api/quantity/quantity.ts';
import { quantityInNano } from '../../../api/quantity/quantity-arithmetic.ts';
import { type AllocatedDevice, type AllocatedDevices, type ClaimAllocation, deviceKey } from '../../devices/device-types.ts';

/** A thousand E, in billionths. */
const largestWithSuffix = 10n ** 30n;

/** What one claim has of a device. */
interface TakenPart {
  readonly device: string;
  /** How much of each capacity, in billionths; undefined where the claim has the whole device. */
  readonly share: ReadonlyMap<string, bigint> | undefined;
  /** True for a share that says what it uses up, be it nothing. */
  readonly saysCapacity: boolean;
}

/** The shares of one device. */
interface TakenShares {
  count: number;
  /** How many of them say what they use up: the device has been counted for the counters of its pool, even if that is nothing. */
  counted: number;
  readonly nano: Map<string, bigint>;
}

/**
 * What the claims of a cluster have of its devices, kept up to date claim by claim: to look at it costs nothing. Two claims that are said to
 * have the same device are counted both, so that the end of one of them does not free it.
 */
export class DevicesOfClaims implements AllocatedDevices {
  readonly devices = new Set<string>();
  readonly sharedDevices = new Set<string>();
  readonly consumedCapacity = new Map<string, Readonly<Record<string, string>>>();
  readonly #parts = new Map<string, readonly TakenPart[]>();
  readonly #whole = new Map<string, number>();
  readonly #shares = new Map<string, TakenShares>();

  /** How many claims have something. */
  get claims(): number {
    return this.#parts.size;
  }

  /** What the claim of this uid has from now on; undefined: nothing. */
  set(claimUID: string, allocation: ClaimAllocation | null | undefined): void {
    for (const part of this.#parts.get(claimUID) ?? []) this.#add(part, -1);
    this.#parts.delete(claimUID);
    const parts = (allocation?.devices?.results ?? []).flatMap(partOf);
    if (parts.length === 0) return;
    this.#parts.set(claimUID, parts);
    for (const part of parts) this.#add(part, 1);
  }

  #add({ device, share, saysCapacity }: TakenPart, sign: 1 | -1): void {
    if (share === undefined) {
      const count = (this.#whole.get(device) ?? 0) + sign;
      setOrDelete(this.#whole, device, count, count > 0);
      if (count > 0) this.devices.add(device);
      else this.devices.delete(device);
      return;
    }
    const shares = this.#shares.get(device) ?? { count: 0, counted: 0, nano: new Map<string, bigint>() };
    shares.count += sign;
    if (saysCapacity) shares.counted += sign;
    for (const [name, amount] of share) {
      const sum = (shares.nano.get(name) ?? 0n) + BigInt(sign) * amount;
      setOrDelete(shares.nano, name, sum, sum !== 0n);
    }
    const isShared = shares.count > 0;
    setOrDelete(this.#shares, device, shares, isShared);
    setOrDelete(this.consumedCapacity, device, textsOf(shares.nano), shares.counted > 0);
    if (isShared) this.sharedDevices.add(device);
    else this.sharedDevices.delete(device);
  }
}

function setOrDelete<Value>(map: Map<string, Value>, key: string, value: Value, isThere: boolean): void {
  if (isThere) map.set(key, value);
  else map.delete(key);
}

/** Nothing for a device with admin access: others may have it as well. */
function partOf(result: AllocatedDevice): readonly TakenPart[] {
  if (result.adminAccess === true) return [];
  const device = deviceKey(result);
  return [{ device, share: result.shareID == null ? undefined : shareOf(result), saysCapacity: result.consumedCapacity != null }];
}

/** A share that cannot be read counts as the whole device. */
function shareOf({ consumedCapacity }: AllocatedDevice): ReadonlyMap<string, bigint> | undefined {
  try {
    const given = Object.entries(consumedCapacity ?? {});
    const amounts = new Map(given.map(([name, amount]) => [name, quantityInNano(canonicalQuantity(String(amount)))]));
    return [...amounts.values()].some((amount) => amount < 0n) ? undefined : amounts;
  } catch {
    return undefined;
  }
}

function textsOf(nano: ReadonlyMap<string, bigint>): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(nano, ([name, amount]) => [name, textOf(amount)]));
}

/** Suffixes end at E: the canonical text of a larger amount has lost its size, as upstream's has. */
function textOf(amount: bigint): string {
  return amount < largestWithSuffix ? canonicalQuantity(`${amount}n`) : `${amount}e-9`;
}
