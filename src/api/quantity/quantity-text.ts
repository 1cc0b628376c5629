// Behaviour of k8s.io/apimachinery/pkg/api/resource parseQuantityString and its suffixes, v0.36.3.
import { endOfDigits, endOfZeros } from './digits.ts';

export type QuantityFormat = 'decimalSI' | 'binarySI' | 'decimalExponent';

/** The text of a quantity, taken apart. */
export interface QuantityText {
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
export const decimalSuffixes: readonly string[] = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
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
