// Behaviour of k8s.io/apimachinery/pkg/api/resource Quantity.Add and Cmp, v0.36.3.
import { invalidArgument } from '../../base/errors.ts';
import {
  amountInNano,
  binarySuffixes,
  canonicalQuantity,
  nano,
  nanoInMilli,
  nanoInOne,
  parseQuantityText,
  type QuantityFormat,
} from './quantity.ts';

interface Amount {
  /** In billionths; what is finer is rounded up. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

/** Less than, equal to or more than zero, as the first quantity is to the second. Throws ERR_INVALID_ARGUMENT. */
export function compareQuantities(first: string, second: string): number {
  return first === second ? 0 : compareAmounts(amountOf(first), amountOf(second));
}

/** True for what can be added and compared. */
export function isQuantity(text: string): boolean {
  return parseQuantityText(text.trim()) !== undefined;
}

/**
 * The sum of quantities, in the form of the first one that is not zero. It is written once, at the end: a text for each step would
 * be work that grows with the number of quantities times their length. One quantity alone stays as it was written.
 */
export class QuantityTotal {
  #text: string | undefined;
  #amount: Amount | undefined;

  constructor(quantity: string | QuantityTotal) {
    if (typeof quantity === 'string') {
      this.#text = quantity;
    } else {
      this.#text = quantity.#text;
      this.#amount = quantity.#amount;
    }
  }

  /** Throws ERR_INVALID_ARGUMENT for what is no quantity. */
  add(quantity: string | QuantityTotal): void {
    const other = typeof quantity === 'string' ? amountOf(quantity) : quantity.#value();
    this.#amount = sumOf(this.#value(), other);
    this.#text = undefined;
  }

  /** Less than, equal to or more than zero, as this is to the other. Throws ERR_INVALID_ARGUMENT. */
  compare(other: QuantityTotal): number {
    if (this.#text !== undefined && this.#text === other.#text) return 0;
    return compareAmounts(this.#value(), other.#value());
  }

  toString(): string {
    return this.#text ?? textOf(this.#value());
  }

  #value(): Amount {
    this.#amount ??= amountOf(this.#text ?? '');
    return this.#amount;
  }
}

function sumOf(a: Amount, b: Amount): Amount {
  return { nano: a.nano + b.nano, format: a.nano === 0n ? b.format : a.format };
}

function compareAmounts({ nano: a }: Amount, { nano: b }: Amount): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function amountOf(text: string): Amount {
  const parts = parseQuantityText(text.trim());
  if (parts === undefined) {
    throw invalidArgument('quantity', 'a number with an optional suffix, such as 100m, 1.5Gi or 1e3', text);
  }
  return { nano: amountInNano(parts), format: parts.format };
}

function textOf({ nano: size, format }: Amount): string {
  if (format === 'decimalExponent') return canonicalQuantity(`${size}e${nano}`);
  if (format === 'decimalSI' || size % nanoInOne !== 0n || size < 1024n * nanoInOne) return canonicalQuantity(`${size}n`);
  let amount = size / nanoInOne;
  let power = 0;
  for (; amount % 1024n === 0n && power < binarySuffixes.length - 1; power++) amount /= 1024n;
  return `${amount}${binarySuffixes[power]}`;
}

// Arithmetic on quantities in canonical form. Behaviour of k8s.io/apimachinery/pkg/api/resource, v0.36.3.

/** How many billionths a quantity is. `text` is in canonical form (`canonicalQuantity`), so that the number is exact below 10^290. */
export function quantityInNano(text: string): bigint {
  const parts = parseQuantityText(text);
  if (parts === undefined) throw new RangeError(`no quantity: ${text.slice(0, 60)}`);
  return amountInNano(parts);
}

/** A quantity in canonical form, rounded to thousandths, away from zero. */
export function roundedUpToMilli(text: string): string {
  const nano = quantityInNano(text);
  const rest = nano % nanoInMilli;
  if (rest === 0n) return text;
  return quantityOf(nano - rest + (nano > 0n ? nanoInMilli : -nanoInMilli), formatOf(text));
}

function formatOf(text: string): QuantityFormat {
  return parseQuantityText(text)?.format ?? 'decimalSI';
}

function quantityOf(nano: bigint, format: QuantityFormat): string {
  if (format === 'decimalExponent') return canonicalQuantity(`${nano}e-9`);
  if (format === 'binarySI' && nano % (1024n * nanoInOne) === 0n) return canonicalQuantity(`${nano / nanoInOne / 1024n}Ki`);
  return canonicalQuantity(`${nano}n`);
}

// Behaviour of k8s.io/apimachinery/pkg/api/resource Quantity.Value and MilliValue, v0.36.3.

const largest = 2n ** 63n - 1n;

/** A quantity in whole units, such as bytes, rounded up. What is no quantity is 0; what no int64 holds is the nearest one. */
export function wholeUnits(quantity: unknown): number {
  return scaled(quantity, nanoInOne);
}

/** A quantity in thousandths, such as thousandths of a processor, rounded up. What is no quantity is 0. */
export function thousandths(quantity: unknown): number {
  return scaled(quantity, nanoInMilli);
}

function scaled(quantity: unknown, unitInNano: bigint): number {
  const text = String(quantity);
  if (quantity === undefined || quantity === null || !isQuantity(text)) return 0;
  const nano = quantityInNano(canonicalQuantity(text));
  const up = nano > 0n && nano % unitInNano !== 0n ? 1n : nano < 0n && nano % unitInNano !== 0n ? -1n : 0n;
  const units = nano / unitInNano + up;
  return Number(units > largest ? largest : units < -largest ? -largest : units);
}
