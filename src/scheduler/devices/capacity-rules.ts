// Behaviour of k8s.io/dynamic-resource-allocation/structured/internal/incubating/consumable_capacity.go, v0.36.3.
import { amountInNano, canonicalQuantity, nanoInOne, parseQuantityText } from '../../api/quantity/quantity.ts';
import { invalidArgument } from '../../base/errors.ts';
import type { DeviceCapacity } from './device-types.ts';

/** A quantity with its text as a server writes it. */
export interface CapacityAmount {
  readonly nano: bigint;
  readonly text: string;
}

/** What a request would use up of a device, by the name of the capacity. */
export type CapacityUse = ReadonlyMap<string, CapacityAmount>;

/** A capacity of a device, read once. */
export interface ReadCapacity {
  readonly name: string;
  readonly value: CapacityAmount;
  readonly policy: ReadPolicy | undefined;
}

interface ReadPolicy {
  readonly fallback: CapacityAmount | undefined;
  readonly range: ReadRange | undefined;
  readonly values: readonly CapacityAmount[] | undefined;
}

interface ReadRange {
  readonly min: CapacityAmount | undefined;
  readonly max: CapacityAmount | undefined;
  readonly step: CapacityAmount | undefined;
}

/** Throws ERR_INVALID_ARGUMENT for what is no quantity. */
export function capacityAmount(quantity: string): CapacityAmount {
  const amount = amountOrNone(quantity);
  if (amount === undefined)
    throw invalidArgument('quantity', 'a number with an optional suffix, such as 100m or 1.5Gi', quantity);
  return amount;
}

/** Undefined for what is no quantity. */
export function amountOrNone(quantity: string): CapacityAmount | undefined {
  const parts = parseQuantityText(String(quantity).trim());
  return parts && { nano: amountInNano(parts), text: canonicalQuantity(String(quantity)) };
}

/** Throws ERR_INVALID_ARGUMENT for what is no quantity. */
export function readCapacity(name: string, { value, requestPolicy }: DeviceCapacity): ReadCapacity {
  return { name, value: capacityAmount(value), policy: requestPolicy == null ? undefined : readPolicy(requestPolicy) };
}

function readPolicy({ default: fallback, validRange, validValues }: NonNullable<DeviceCapacity['requestPolicy']>): ReadPolicy {
  return {
    fallback: optionalAmount(fallback),
    range:
      validRange == null
        ? undefined
        : { min: optionalAmount(validRange.min), max: optionalAmount(validRange.max), step: optionalAmount(validRange.step) },
    values: validValues?.map(capacityAmount),
  };
}

function optionalAmount(quantity: string | null | undefined): CapacityAmount | undefined {
  return quantity == null ? undefined : capacityAmount(quantity);
}

/**
 * What a request uses up of a device with these capacities. Undefined where the device has no such capacity, or its policy does not
 * allow that much.
 */
export function capacityUse(
  capacities: readonly ReadCapacity[],
  requested: ReadonlyMap<string, CapacityAmount>,
): CapacityUse | undefined {
  const use = new Map<string, CapacityAmount>();
  let found = 0;
  for (const capacity of capacities) {
    const wanted = requested.get(capacity.name);
    if (wanted !== undefined) found++;
    const amount = usedAmount(capacity, wanted);
    if (amount === undefined || breaksPolicy(amount, capacity.policy)) return undefined;
    use.set(capacity.name, amount);
  }
  return found === requested.size ? use : undefined;
}

function usedAmount({ value, policy }: ReadCapacity, wanted: CapacityAmount | undefined): CapacityAmount | undefined {
  if (wanted === undefined) return policy?.fallback ?? value;
  if (policy?.range?.min !== undefined) return roundedToRange(wanted, policy.range.min, policy.range.step);
  return policy?.values?.find(({ nano }) => wanted.nano <= nano) ?? wanted;
}

function roundedToRange(
  wanted: CapacityAmount,
  min: CapacityAmount,
  step: CapacityAmount | undefined,
): CapacityAmount | undefined {
  if (wanted.nano < min.nano) return min;
  if (step === undefined) return wanted;
  const [size, from, added] = [units(step), units(min), units(wanted) - units(min)];
  if (size === 0n) return undefined;
  const steps = added / size + (added % size === 0n ? 0n : 1n);
  const rounded = from + steps * size;
  const text = rounded < 1024n ? canonicalQuantity(String(rounded)) : binaryText(rounded);
  return { nano: rounded * nanoInOne, text };
}

function binaryText(size: bigint): string {
  return size % 1024n === 0n ? canonicalQuantity(`${size / 1024n}Ki`) : String(size);
}

function breaksPolicy(amount: CapacityAmount, policy: ReadPolicy | undefined): boolean {
  if (policy === undefined || (policy.fallback !== undefined && policy.fallback.nano === amount.nano)) return false;
  if (policy.range !== undefined) return breaksRange(amount, policy.range);
  if (policy.values === undefined || policy.values.length === 0) return false;
  return policy.values.every(({ nano }) => nano !== amount.nano);
}

function breaksRange(amount: CapacityAmount, { min, max, step }: ReadRange): boolean {
  if (max !== undefined && amount.nano > max.nano) return true;
  if (step === undefined) return false;
  const size = units(step);
  return min === undefined || size === 0n || (units(amount) - units(min)) % size !== 0n;
}

/** In whole units, rounded away from zero. */
function units({ nano }: CapacityAmount): bigint {
  const rest = nano % nanoInOne;
  return nano / nanoInOne + (rest > 0n ? 1n : rest < 0n ? -1n : 0n);
}
