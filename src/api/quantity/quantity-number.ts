// Behaviour of k8s.io/apimachinery/pkg/api/resource Quantity.Value and MilliValue, v0.36.3.
import { canonicalQuantity } from './quantity.ts';
import { isQuantity } from './quantity-sum.ts';
import { quantityInNano } from './quantity-value.ts';

const largest = 2n ** 63n - 1n;

/** A quantity in whole units, such as bytes, rounded up. What is no quantity is 0; what no int64 holds is the nearest one. */
export function wholeUnits(quantity: unknown): number {
  return scaled(quantity, 10n ** 9n);
}

/** A quantity in thousandths, such as thousandths of a processor, rounded up. What is no quantity is 0. */
export function thousandths(quantity: unknown): number {
  return scaled(quantity, 10n ** 6n);
}

function scaled(quantity: unknown, unitInNano: bigint): number {
  const text = String(quantity);
  if (quantity === undefined || quantity === null || !isQuantity(text)) return 0;
  const nano = quantityInNano(canonicalQuantity(text));
  const up = nano > 0n && nano % unitInNano !== 0n ? 1n : nano < 0n && nano % unitInNano !== 0n ? -1n : 0n;
  const units = nano / unitInNano + up;
  return Number(units > largest ? largest : units < -largest ? -largest : units);
}
