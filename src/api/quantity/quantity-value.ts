// Arithmetic on quantities in canonical form. Behaviour of k8s.io/apimachinery/pkg/api/resource, v0.36.3.
import { amountInNano, canonicalQuantity } from './quantity.ts';
import { parseQuantityText, type QuantityFormat } from './quantity-text.ts';

const nanoInOne = 10n ** 9n;
const nanoInMilli = 10n ** 6n;

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
