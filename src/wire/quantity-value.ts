// Arithmetic on quantities in canonical form. Behaviour of k8s.io/apimachinery/pkg/api/resource, v0.36.3.
import { canonicalQuantity } from './quantity.ts';
import { parseQuantityText, type QuantityFormat } from './quantity-text.ts';

const nanoInOne = 10n ** 9n;
const nanoInMilli = 10n ** 6n;

/** How many billionths a quantity is. `text` is in canonical form (`canonicalQuantity`), so that the number is exact. */
export function quantityInNano(text: string): bigint {
  const parts = parseQuantityText(text);
  if (parts === undefined) throw new RangeError(`no quantity: ${text}`);
  const { negative, whole, fraction, format, exponent } = parts;
  const digits = BigInt(whole + fraction);
  const size =
    format === 'binarySI' ? digits * 2n ** BigInt(exponent) * nanoInOne : digits * 10n ** BigInt(Math.max(0, exponent + 9));
  const nano = size / 10n ** BigInt(fraction.length);
  return negative ? -nano : nano;
}

/** Negative, zero or positive, as `a` is smaller than, equal to or larger than `b`. Both are in canonical form. */
export function compareQuantities(a: string, b: string): number {
  const difference = quantityInNano(a) - quantityInNano(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** A quantity in canonical form, rounded to thousandths, away from zero. */
export function roundedUpToMilli(text: string): string {
  const nano = quantityInNano(text);
  const rest = nano % nanoInMilli;
  if (rest === 0n) return text;
  return quantityOf(nano - rest + (nano > 0n ? nanoInMilli : -nanoInMilli), formatOf(text));
}

/** The sum of two quantities in canonical form, written as the first one is, and as the second where the first is zero. */
export function sumOfQuantities(a: string, b: string): string {
  const first = quantityInNano(a);
  return quantityOf(first + quantityInNano(b), formatOf(first === 0n ? b : a));
}

function formatOf(text: string): QuantityFormat {
  return parseQuantityText(text)?.format ?? 'decimalSI';
}

function quantityOf(nano: bigint, format: QuantityFormat): string {
  if (format === 'decimalExponent') return canonicalQuantity(`${nano}e-9`);
  if (format === 'binarySI' && nano % (1024n * nanoInOne) === 0n) return canonicalQuantity(`${nano / nanoInOne / 1024n}Ki`);
  return canonicalQuantity(`${nano}n`);
}
