// Decimal digits in text. Every function takes time in proportion to the text's length, whatever stands in it.

const zero = 48;
const nine = 57;

/** The index behind the zeros that begin at `from`. */
export function endOfZeros(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === zero) at++;
  return at;
}

/** The index behind the digits that begin at `from`. */
export function endOfDigits(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) >= zero && text.charCodeAt(at) <= nine) at++;
  return at;
}

/** `digits` without the zeros at its end. */
export function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === zero) end--;
  return digits.slice(0, end);
}

/** The number after `digits`. */
export function nextNumber(digits: string): string {
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
