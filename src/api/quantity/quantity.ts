// Behaviour of k8s.io/apimachinery/pkg/api/resource ParseQuantity and String, v0.36.3.
import { invalidArgument } from '../../base/errors.ts';
import { endOfZeros, nextNumber, withoutTrailingZeros } from './digits.ts';
import { binarySuffixes, decimalSuffixes, nano, parseQuantityText, type QuantityText } from './quantity-text.ts';

/** A number without a sign: `digits` times ten to the power of `power`. */
interface Decimal {
  readonly digits: string;
  readonly power: number;
}

/** Binary quantities end at the largest int64, of either sign. */
const maxInt64 = 2n ** 63n - 1n;
const oneInNano = 10n ** 9n;
const largestInNano = maxInt64 * oneInNano;
/** Beyond every amount of anything, and still within what a number of JavaScript can be. */
const mostDigits = 290;
const largestSize = 10n ** BigInt(mostDigits) * oneInNano;

/**
 * A resource quantity as the apiserver gives it back: `1000m` is `1`, `0.5` is `500m`, `1024Ki` is `1Mi`. Exact in every
 * digit down to one billionth, below which the apiserver rounds away from zero. Throws ERR_INVALID_ARGUMENT for anything
 * that is no quantity.
 *
 * A quantity may be of any length, as for the apiserver, whose only limit is that of a request (3 MiB). The time taken
 * grows in proportion to the length.
 */
export function canonicalQuantity(text: string): string {
  if (typeof text !== 'string') throw notAQuantity(text);
  const trimmed = text.trim();
  const parts = parseQuantityText(trimmed);
  if (parts === undefined) throw notAQuantity(text);
  if (keepsItsText(parts)) return trimmed;
  const size = parts.format === 'binarySI' ? canonicalBinary(parts) : canonicalDecimal(decimalOf(parts), parts.format);
  return parts.negative && size !== '0' ? `-${size}` : size;
}

/**
 * How many billionths a quantity is, rounded up. What has more than {@link mostDigits} digits before the point counts as the
 * smallest such number: an exponent of eight digits would make a number that fills the memory. The time taken grows in
 * proportion to the length of the text, whatever the exponent.
 */
export function amountInNano(parts: QuantityText): bigint {
  const size = sizeOf(parts);
  return parts.negative ? -size : size;
}

function sizeOf(parts: QuantityText): bigint {
  if (parts.format === 'binarySI') {
    return parts.whole.length > mostDigits ? largestSize : sizeInNano(parts.whole, parts.fraction, parts.exponent);
  }
  const { digits, power } = decimalOf(parts);
  if (digits === '') return 0n;
  return digits.length + power > mostDigits ? largestSize : BigInt(digits) * 10n ** BigInt(power - nano);
}

const notAQuantity = (value: unknown) =>
  invalidArgument('quantity', 'a number with an optional suffix, such as 100m, 1.5Gi or 1e3', value);

/** Small quantities that look canonical come back just as they were written, even with a sign or leading zeros. */
function keepsItsText({ whole, fraction, format, exponent }: QuantityText): boolean {
  if (format === 'binarySI') {
    const room = 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1;
    return fraction === '' && room >= 0 && Number(whole) % 8 !== 0;
  }
  if (whole.length + fraction.length > 18) return false;
  const digits = whole + fraction;
  const scale = exponent - fraction.length;
  return scale >= nano && scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
}

function decimalOf({ whole, fraction, exponent }: QuantityText): Decimal {
  const digits = whole + fraction;
  return roundedToNano(shortest({ digits: digits.slice(endOfZeros(digits, 0)), power: exponent - fraction.length }));
}

function shortest({ digits, power }: Decimal): Decimal {
  const kept = withoutTrailingZeros(digits);
  return { digits: kept, power: power + digits.length - kept.length };
}

/** Rounds up what is finer than a billionth. The last digit is not zero, so that whatever is cut off counts. */
function roundedToNano(number: Decimal): Decimal {
  const cut = nano - number.power;
  if (cut <= 0 || number.digits === '') return number;
  if (number.digits.length <= cut) return { digits: '1', power: nano };
  return shortest({ digits: nextNumber(number.digits.slice(0, -cut)), power: nano });
}

/** The fewest digits with a power of ten that is a multiple of three. */
function canonicalDecimal({ digits, power }: Decimal, format: QuantityText['format']): string {
  if (digits === '') return '0';
  const steps = Math.floor(power / 3);
  const padded = digits + '0'.repeat(power - 3 * steps);
  if (format === 'decimalExponent') return steps === 0 ? padded : `${padded}e${3 * steps}`;
  return padded + (decimalSuffixes[steps - nano / 3] ?? '');
}

function canonicalBinary({ whole, fraction, exponent }: QuantityText): string {
  const size = whole.length > String(maxInt64).length ? largestInNano : sizeInNano(whole, fraction, exponent);
  if (size >= largestInNano) return String(maxInt64);
  if (size < 1024n * oneInNano || size % oneInNano !== 0n) {
    return canonicalDecimal(shortest({ digits: size === 0n ? '' : String(size), power: nano }), 'decimalSI');
  }
  let amount = size / oneInNano;
  let power = 0;
  for (; amount % 1024n === 0n; power++) amount /= 1024n;
  return `${amount}${binarySuffixes[power] ?? ''}`;
}

/** Rounded up. */
function sizeInNano(whole: string, fraction: string, exponent: number): bigint {
  const factor = 2n ** BigInt(exponent) * oneInNano;
  return BigInt(whole) * factor + timesFraction(factor, fraction);
}

/** `factor` times the fraction with these digits, rounded up. The digits come in pieces, from the last on, so that no number grows with the text. */
function timesFraction(factor: bigint, digits: string): bigint {
  const pieceLength = 18;
  let product = 0n;
  let exact = true;
  for (let end = digits.length; end > 0; end -= pieceLength) {
    const piece = digits.slice(Math.max(0, end - pieceLength), end);
    const base = 10n ** BigInt(piece.length);
    product += BigInt(piece) * factor;
    exact &&= product % base === 0n;
    product /= base;
  }
  return exact ? product : product + 1n;
}
