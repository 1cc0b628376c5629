// Behaviour of k8s.io/apimachinery/pkg/api/resource Quantity.Add and Cmp, v0.36.3.
import { invalidArgument } from '../errors.ts';
import { canonicalQuantity } from './quantity.ts';
import { binarySuffixes, nano, parseQuantityText, type QuantityFormat, type QuantityText } from './quantity-text.ts';

/** An exponent beyond it would make a number that fills the memory. */
const largestExponent = 10_000;
const oneInNano = 10n ** 9n;

interface Amount {
  /** In billionths; what is finer is rounded up. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

/** The sum, in the form of the first quantity, or of the second where the first is zero. Throws ERR_INVALID_ARGUMENT. */
export function addQuantities(first: string, second: string): string {
  const [a, b] = [amountOf(first), amountOf(second)];
  return textOf({ nano: a.nano + b.nano, format: a.nano === 0n ? b.format : a.format });
}

/** Less than, equal to or more than zero, as the first quantity is to the second. Throws ERR_INVALID_ARGUMENT. */
export function compareQuantities(first: string, second: string): number {
  if (first === second) return 0;
  const [a, b] = [amountOf(first).nano, amountOf(second).nano];
  return a < b ? -1 : a > b ? 1 : 0;
}

/** True for what can be added and compared. */
export function isQuantity(text: string): boolean {
  return partsOf(text) !== undefined;
}

function partsOf(text: string): QuantityText | undefined {
  const parts = parseQuantityText(text.trim());
  return parts === undefined || Math.abs(parts.exponent) > largestExponent ? undefined : parts;
}

function amountOf(text: string): Amount {
  const parts = partsOf(text);
  if (parts === undefined) {
    throw invalidArgument('quantity', 'a number with an optional suffix, such as 100m, 1.5Gi or 1e3', text);
  }
  const { whole, fraction, format, exponent, negative } = parts;
  const power = (format === 'binarySI' ? 0 : exponent) - fraction.length - nano;
  const digits = BigInt(whole + fraction) * (format === 'binarySI' ? 2n ** BigInt(exponent) : 1n);
  const size = power >= 0 ? digits * 10n ** BigInt(power) : dividedUp(digits, 10n ** BigInt(-power));
  return { nano: negative ? -size : size, format };
}

function dividedUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}

function textOf({ nano: size, format }: Amount): string {
  if (format === 'decimalExponent') return canonicalQuantity(`${size}e${nano}`);
  if (format === 'decimalSI' || size % oneInNano !== 0n || size < 1024n * oneInNano) return canonicalQuantity(`${size}n`);
  let amount = size / oneInNano;
  let power = 0;
  for (; amount % 1024n === 0n && power < binarySuffixes.length - 1; power++) amount /= 1024n;
  return `${amount}${binarySuffixes[power]}`;
}
