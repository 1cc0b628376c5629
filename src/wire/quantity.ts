// Behaviour of k8s.io/apimachinery/pkg/api/resource ParseQuantity and String, v0.36.3.
import { invalidArgument } from '../errors.ts';

type Format = 'decimalSI' | 'binarySI' | 'decimalExponent';

interface ParsedQuantity {
  readonly negative: boolean;
  /** Digits before and after the point, without leading zeros in front. */
  readonly whole: string;
  readonly fraction: string;
  readonly format: Format;
  /** Power of ten, or of two for binarySI. */
  readonly exponent: number;
}

/** value = mantissa * 10 ** exponent */
interface Decimal {
  readonly mantissa: bigint;
  readonly exponent: number;
}

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const maxInt64 = 2n ** 63n - 1n;
const nano = -9;

/**
 * A resource quantity as the apiserver gives it back: `1000m` is `1`, `0.5` is `500m`, `1024Ki` is `1Mi`. Exact in every
 * digit down to one billionth, below which the apiserver rounds away from zero. Throws ERR_INVALID_ARGUMENT for anything
 * that is no quantity.
 */
export function canonicalQuantity(text: string): string {
  if (typeof text !== 'string') throw notAQuantity(text);
  const trimmed = text.trim();
  const parsed = parse(trimmed);
  if (parsed === undefined) throw notAQuantity(text);
  if (keepsItsText(parsed)) return trimmed;
  if (parsed.format === 'binarySI') return canonicalBinary(parsed);
  return canonicalDecimal(roundedToNano(decimalOf(parsed)), parsed.format);
}

const notAQuantity = (value: unknown) =>
  invalidArgument('quantity', 'a number with an optional suffix, such as 100m, 1.5Gi or 1e3', value);

function parse(text: string): ParsedQuantity | undefined {
  const match = /^([+-]?)0*(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/.exec(text);
  if (match === null || text === '') return undefined;
  const [, sign = '', digits = '', fraction = '', suffix = ''] = match;
  const unit = parseSuffix(suffix);
  return unit && { negative: sign === '-', whole: digits === '' ? '0' : digits, fraction, ...unit };
}

function parseSuffix(suffix: string): { format: Format; exponent: number } | undefined {
  const decimal = decimalSuffixes.indexOf(suffix);
  if (decimal >= 0) return { format: 'decimalSI', exponent: 3 * decimal + nano };
  const binary = binarySuffixes.indexOf(suffix);
  if (binary >= 0) return { format: 'binarySI', exponent: 10 * binary };
  if (!/^[eE][+-]?\d+$/.test(suffix)) return undefined;
  const exponent = BigInt(suffix.slice(1).replace('+', ''));
  if (BigInt.asIntN(64, exponent) !== exponent) return undefined;
  return { format: 'decimalExponent', exponent: Number(BigInt.asIntN(32, exponent)) };
}

/** Small quantities that look canonical come back just as they were written, even with a sign or leading zeros. */
function keepsItsText({ whole, fraction, format, exponent }: ParsedQuantity): boolean {
  if (format === 'binarySI') {
    const room = 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1;
    return fraction === '' && room >= 0 && BigInt(whole) % 8n !== 0n;
  }
  const digits = whole + fraction;
  const scale = exponent - fraction.length;
  return digits.length <= 18 && scale >= nano && scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
}

function decimalOf({ negative, whole, fraction, exponent }: ParsedQuantity): Decimal {
  const mantissa = BigInt(whole + fraction);
  return { mantissa: negative ? -mantissa : mantissa, exponent: exponent - fraction.length };
}

/** Rounds away from zero what is finer than a billionth. */
function roundedToNano({ mantissa, exponent }: Decimal): Decimal {
  if (exponent >= nano || mantissa === 0n) return { mantissa, exponent };
  const digits = nano - exponent;
  // With fewer digits than are cut off, nothing but the rounding is left.
  if (String(mantissa).length < digits) return { mantissa: mantissa < 0n ? -1n : 1n, exponent: nano };
  return { mantissa: divideAwayFromZero(mantissa, 10n ** BigInt(digits)), exponent: nano };
}

function divideAwayFromZero(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  if (value % divisor === 0n) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

/** The shortest mantissa with a power of ten that is a multiple of three. */
function canonicalDecimal({ mantissa, exponent }: Decimal, format: Format): string {
  if (mantissa === 0n) return '0';
  let digits = String(mantissa).replace(/0+$/, '');
  let power = exponent + String(mantissa).length - digits.length;
  for (; power % 3 !== 0; power--) digits += '0';
  if (format === 'decimalExponent') return power === 0 ? digits : `${digits}e${power}`;
  return digits + (decimalSuffixes[(power - nano) / 3] ?? '');
}

function canonicalBinary(parsed: ParsedQuantity): string {
  const { mantissa, exponent } = decimalOf({ ...parsed, exponent: 0 });
  const shifted = { mantissa: mantissa << BigInt(parsed.exponent), exponent };
  const exact = capped(roundedToNano(shifted));
  const unit = 10n ** BigInt(-exact.exponent);
  const size = exact.mantissa < 0n ? -exact.mantissa : exact.mantissa;
  if (size < 1024n * unit || size % unit !== 0n) return canonicalDecimal(exact, 'decimalSI');
  let amount = exact.mantissa / unit;
  let power = 0;
  for (; amount % 1024n === 0n; power++) amount /= 1024n;
  return `${amount}${binarySuffixes[power] ?? ''}`;
}

/** Binary quantities end at the largest int64, as the apiserver caps them, of either sign. */
function capped(value: Decimal): Decimal {
  const limit = maxInt64 * 10n ** BigInt(-value.exponent);
  if (value.mantissa > limit) return { mantissa: maxInt64, exponent: 0 };
  if (value.mantissa < -limit) return { mantissa: -maxInt64, exponent: 0 };
  return value;
}
