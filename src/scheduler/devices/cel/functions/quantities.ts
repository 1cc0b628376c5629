import { amountInNano, parseQuantityText } from '../../../../api/quantity/quantity.ts';
import { type CelExtension, CelFailure, type CelValue, maxInt, minInt, noOverload } from '../values.ts';
import type { CelFunction } from './dispatch.ts';

const nanoPower = -9;
const nano = 10n ** BigInt(-nanoPower);

/** An amount of a resource, exact to one billionth. */
export class CelQuantity implements CelExtension {
  readonly typeName = 'kubernetes.Quantity';
  readonly hashable = true;
  /** In billionths. */
  readonly amount: bigint;
  /** How upstream keeps it: as an int64 with a power of ten, or (undefined) as a number of any size. */
  readonly small: Small | undefined;
  /** A sum or a difference: upstream cannot compare others with it. */
  readonly computed: boolean;
  /** The power of ten that upstream counts in. */
  readonly power: number;

  constructor(amount: bigint, small: Small | undefined, computed = false, power = nanoPower) {
    this.amount = amount;
    this.small = small;
    this.computed = computed;
    this.power = small?.power ?? power;
  }

  equals(other: CelValue): boolean | undefined {
    return other instanceof CelQuantity && !other.computed ? this.amount === other.amount : undefined;
  }
}

interface Small {
  readonly value: bigint;
  readonly power: number;
}

/** Undefined for what is no quantity. */
export function celQuantity(text: string): CelQuantity | undefined {
  const parts = parseQuantityText(text);
  if (parts === undefined) return undefined;
  const amount = amountInNano(parts);
  return new CelQuantity(parts.format === 'binarySI' ? withinInt64(amount) : amount, smallOf(text));
}

const suffixes: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binary: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

/** Binary quantities end at the largest integer of 64 bits, of either sign. */
function withinInt64(amount: bigint): bigint {
  const most = maxInt * nano;
  if (amount > most) return most;
  return amount < -most ? -most : amount;
}

const mostSmallDigits = 18;

/** The int64 that upstream keeps where a quantity is short enough. */
function smallOf(text: string): Small | undefined {
  const [, sign, zeros = '', whole = '', fraction = '', suffix = ''] = /^([+-]?)(0*)(\d*)(?:\.(\d*))?(.*)$/.exec(text) ?? [];
  const digits = `${whole === '' ? '0' : whole}${fraction}`;
  if (zeros !== '' && whole === '' && fraction === '' && suffix === '') return { value: 0n, power: 0 };
  const bits = binary[suffix];
  if (digits.length > mostSmallDigits) return undefined;
  let value = BigInt(digits);
  let power = suffixes[suffix] ?? Number(/^[eE]([+-]?\d+)$/.exec(suffix)?.[1] ?? 0);
  if (bits !== undefined) {
    if (fraction !== '' || 15 - whole.length - Math.trunc((bits * 3) / 10) - 1 < 0) return undefined;
    value <<= BigInt(bits);
    power = 0;
  }
  power -= fraction.length;
  if (power < -9 || value > maxInt) return undefined;
  return { value: sign === '-' ? -value : value, power };
}

/** Undefined for what is no whole number of 64 bits, or what upstream does not keep as one: `2000m` is none. */
function wholeOf({ small }: CelQuantity): bigint | undefined {
  if (small === undefined || small.power < 0) return undefined;
  const { value, power } = small;
  if (value === 0n) return value;
  if (power > 18) return undefined;
  const whole = value * 10n ** BigInt(power);
  return whole > maxInt || whole < minInt ? undefined : whole;
}

/** Functions of quantities, by form. */
export const quantityFunctions: Readonly<Record<string, CelFunction>> = {
  string_to_quantity: ([text]) => celQuantity(text as string) ?? new CelFailure('this text is no quantity'),
  is_quantity_string: ([text]) => celQuantity(text as string) !== undefined,
  quantity_sign: ([q]) => order((q as CelQuantity).amount, 0n),
  quantity_is_greater_than: (args) => compared(args, (a, b) => a > b),
  quantity_is_less_than: (args) => compared(args, (a, b) => a < b),
  quantity_compare_to: (args) => compared(args, order),
  quantity_get_float: ([q]) => approximate(q as CelQuantity),
  quantity_get_int: ([q]) => wholeOf(q as CelQuantity) ?? new CelFailure('this quantity is no whole number of 64 bits'),
  quantity_is_integer: ([q]) => wholeOf(q as CelQuantity) !== undefined,
  quantity_add: ([a, b]) => sum(a as CelQuantity, b as CelQuantity, 1n),
  quantity_add_int: ([a, b]) => sum(a as CelQuantity, wholeQuantity(b as bigint), 1n),
  quantity_sub: ([a, b]) => sum(a as CelQuantity, b as CelQuantity, -1n),
  quantity_sub_int: ([a, b]) => sum(a as CelQuantity, wholeQuantity(b as bigint), -1n),
};

function order(a: bigint, b: bigint): bigint {
  return a < b ? -1n : a > b ? 1n : 0n;
}

function compared([a, b]: readonly CelValue[], compare: (a: bigint, b: bigint) => CelValue): CelValue {
  if (!(a instanceof CelQuantity && b instanceof CelQuantity)) return noOverload('a comparison of quantities', []);
  return compare(a.amount, b.amount);
}

function wholeQuantity(value: bigint): CelQuantity {
  return new CelQuantity(value * nano, { value, power: 0 });
}

function approximate({ amount, power }: CelQuantity): number {
  const whole = power > nanoPower ? amount / 10n ** BigInt(power - nanoPower) : amount;
  return power === 0 ? Number(whole) : Number(whole) * Number(`1e${power}`);
}

function sum(a: CelQuantity, b: CelQuantity, sign: bigint): CelQuantity {
  const small = smallSum(a.small, b.small, sign);
  const added = small !== undefined && b.small?.value === minInt ? b.amount : sign * b.amount;
  return new CelQuantity(a.amount + added, small, true, Math.min(a.power, b.power));
}

function smallSum(a: Small | undefined, b: Small | undefined, sign: bigint): Small | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (b.value === 0n) return a;
  // The least integer has no counterpart: upstream takes it away by adding it.
  const added = b.value === minInt ? b.value : sign * b.value;
  if (a.value === 0n) return { value: added, power: b.power };
  const power = Math.min(a.power, b.power);
  const inPower = (value: bigint, own: number): bigint => value * 10n ** BigInt(Math.min(own - power, 40));
  const [x, y] = [inPower(a.value, a.power), inPower(added, b.power)];
  return [x, y, x + y].every((part) => part <= maxInt && part >= minInt) ? { value: x + y, power } : undefined;
}
