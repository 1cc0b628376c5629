import { canonicalQuantity } from './quantity.ts';
import { quantityInNano } from './quantity-value.ts';

const nanoInOne = 10n ** 9n;

/** A quantity as a whole number, rounded up; 0 for none. Throws ERR_INVALID_ARGUMENT for what is no quantity. */
export function wholeQuantity(quantity: string | number | null | undefined): bigint {
  if (quantity === undefined || quantity === null || quantity === '') return 0n;
  const nano = quantityInNano(canonicalQuantity(String(quantity)));
  const whole = nano / nanoInOne;
  return nano > 0n && nano % nanoInOne !== 0n ? whole + 1n : whole;
}
