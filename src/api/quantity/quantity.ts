// Behaviour of k8s.io/apimachinery/pkg/api/resource ParseQuantity and String, v0.36.3.
import { invalidArgument } from '../../base/errors.ts';

/** A number without a sign: `digits` times ten to the power of `power`. */
interface Decimal {
  readonly digits: string;
  readonly power: number;
}

/** Binary quantities end at the largest int64, of either sign. */
const maxInt64 = 2n ** 63n - 1n;
/** Billionths in one, and in a thousandth. */
export const nanoInOne = 10n ** 9n;
export const nanoInMilli = 10n ** 6n;
const largestInNano = maxInt64 * nanoInOne;
/** Beyond every amount of anything, and still within what a number of JavaScript can be. */
const mostDigits = 290;
const largestSize = 10n ** BigInt(mostDigits) * nanoInOne;

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

/** Bytes as the kubelet writes them: `20Mi`, `1500`, `5000`; below 1 Ki it counts in tens. */
export function bytesText(bytes: number): string {
  if (Math.abs(bytes) < 1024) return canonicalQuantity(String(bytes));
  return bytes % 1024 === 0 ? canonicalQuantity(`${bytes / 1024}Ki`) : String(bytes);
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
  if (size < 1024n * nanoInOne || size % nanoInOne !== 0n) {
    return canonicalDecimal(shortest({ digits: size === 0n ? '' : String(size), power: nano }), 'decimalSI');
  }
  let amount = size / nanoInOne;
  let power = 0;
  for (; amount % 1024n === 0n; power++) amount /= 1024n;
  return `${amount}${binarySuffixes[power] ?? ''}`;
}

/** Rounded up. */
function sizeInNano(whole: string, fraction: string, exponent: number): bigint {
  const factor = 2n ** BigInt(exponent) * nanoInOne;
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

// Behaviour of k8s.io/apimachinery/pkg/api/resource parseQuantityString and its suffixes, v0.36.3.

export type QuantityFormat = 'decimalSI' | 'binarySI' | 'decimalExponent';

/** The text of a quantity, taken apart. */
interface QuantityText {
  readonly negative: boolean;
  /** The digits before the point, without leading zeros; `0` where there are none. */
  readonly whole: string;
  /** The digits behind the point. */
  readonly fraction: string;
  readonly format: QuantityFormat;
  /** The power of ten that the suffix stands for, or of two for binarySI. */
  readonly exponent: number;
}

/** The suffixes of powers of ten, from a billionth on in steps of a thousand. */
const decimalSuffixes: readonly string[] = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
/** The suffixes of powers of 1024. */
export const binarySuffixes: readonly string[] = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
/** The power of ten below which a quantity is rounded. */
export const nano = -9;

const suffixLetters = 'eEinumkKMGTP';
/** More digits than an exponent of 64 bit has. */
const longestExponent = 19;

/** Undefined for a text that is no quantity. One pass over the text, whatever stands in it. */
export function parseQuantityText(text: string): QuantityText | undefined {
  if (text === '') return undefined;
  const signed = text[0] === '-' || text[0] === '+';
  const start = signed ? 1 : 0;
  const wholeStart = endOfZeros(text, start);
  const wholeEnd = endOfDigits(text, wholeStart);
  const hasPoint = text[wholeEnd] === '.';
  const fractionEnd = hasPoint ? endOfDigits(text, wholeEnd + 1) : wholeEnd;
  const unit = parseSuffix(text, fractionEnd);
  if (unit === undefined) return undefined;
  const hasDigits = fractionEnd - start > (hasPoint ? 1 : 0);
  if (!hasDigits && !isZeroWithoutDigits(unit)) return undefined;
  return {
    negative: text[0] === '-',
    whole: text.slice(wholeStart, wholeEnd) || '0',
    fraction: hasPoint ? text.slice(wholeEnd + 1, fractionEnd) : '',
    ...unit,
  };
}

/** Go takes a suffix without digits for zero where it needs no big numbers: `k` is a quantity, `Pi` and `e-10` are none. */
function isZeroWithoutDigits({ format, exponent }: Unit): boolean {
  return format === 'binarySI' ? exponent <= 40 : exponent >= nano;
}

type Unit = Pick<QuantityText, 'format' | 'exponent'>;

function parseSuffix(text: string, start: number): Unit | undefined {
  let lettersEnd = start;
  while (lettersEnd < text.length && suffixLetters.includes(text.charAt(lettersEnd))) lettersEnd++;
  const letters = text.slice(start, lettersEnd);
  if (lettersEnd < text.length) return letters === 'e' || letters === 'E' ? parseExponent(text, lettersEnd) : undefined;
  const decimal = decimalSuffixes.indexOf(letters);
  if (decimal >= 0) return { format: 'decimalSI', exponent: 3 * decimal + nano };
  const binary = binarySuffixes.indexOf(letters);
  return binary >= 0 ? { format: 'binarySI', exponent: 10 * binary } : undefined;
}

/** An exponent has to fit into 64 bit; Go then keeps the lower 32 bit of it. */
function parseExponent(text: string, start: number): Unit | undefined {
  const signed = text[start] === '-' || text[start] === '+';
  const digitsStart = signed ? start + 1 : start;
  const significant = endOfZeros(text, digitsStart);
  const end = endOfDigits(text, significant);
  if (end < text.length || end === digitsStart || end - significant > longestExponent) return undefined;
  const size = BigInt(text.slice(significant, end));
  const exponent = text[start] === '-' ? -size : size;
  if (BigInt.asIntN(64, exponent) !== exponent) return undefined;
  return { format: 'decimalExponent', exponent: Number(BigInt.asIntN(32, exponent)) };
}

// Decimal digits in text. Every function takes time in proportion to the text's length, whatever stands in it.

const zero = 48;
const nine = 57;

/** The index behind the zeros that begin at `from`. */
function endOfZeros(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === zero) at++;
  return at;
}

/** The index behind the digits that begin at `from`. */
function endOfDigits(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) >= zero && text.charCodeAt(at) <= nine) at++;
  return at;
}

/** `digits` without the zeros at its end. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === zero) end--;
  return digits.slice(0, end);
}

/** The number after `digits`. */
function nextNumber(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === nine) end--;
  const carried = '0'.repeat(digits.length - end);
  return end === 0 ? `1${carried}` : `${digits.slice(0, end - 1)}${Number(digits[end - 1]) + 1}${carried}`;
}

/** Negative, zero or positive as the number `a` is smaller than `b`, the same or larger. Both are digits and nothing else. */
export function compareNumbers(a: string, b: string): number {
  const [left, right] = [a.slice(endOfZeros(a, 0)), b.slice(endOfZeros(b, 0))];
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}
