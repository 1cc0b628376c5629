import { CelFailure, CelUint, type CelValue, typeNameOf } from '../values.ts';
import { unsigned, wholeNumber } from './basics.ts';
import type { CelFunction } from './dispatch.ts';

const mostDigits = 30;

const keep: CelFunction = ([value]) => value as CelValue;

/** Functions that make a value of one type from another, by form. */
export const conversionFunctions: Readonly<Record<string, CelFunction>> = {
  bool_to_bool: keep,
  string_to_bool: ([text]) => boolOf(text as string),
  bytes_to_bytes: keep,
  string_to_bytes: ([text]) => new TextEncoder().encode(text as string),
  double_to_double: keep,
  int64_to_double: ([value]) => Number(value),
  uint64_to_double: ([value]) => Number((value as CelUint).value),
  string_to_double: ([text]) => doubleOf(text as string),
  int64_to_int64: keep,
  uint64_to_int64: ([value]) => wholeNumber((value as CelUint).value),
  double_to_int64: ([value]) => intOf(value as number),
  string_to_int64: ([text]) => (/^[+-]?\d+$/.test(text as string) ? wholeNumber(wholeOf(text as string)) : notA('int', text)),
  uint64_to_uint64: keep,
  int64_to_uint64: ([value]) => unsigned(value as bigint),
  double_to_uint64: ([value]) => uintOf(value as number),
  string_to_uint64: ([text]) => (/^\d+$/.test(text as string) ? unsigned(wholeOf(text as string)) : notA('uint', text)),
  string_to_string: keep,
  bool_to_string: ([value]) => String(value),
  int64_to_string: ([value]) => String(value),
  uint64_to_string: ([value]) => String((value as CelUint).value),
  double_to_string: ([value]) => doubleText(value as number),
  bytes_to_string: ([value]) => textOf(value as Uint8Array),
};

/** A number of many digits takes long to make, and fits nowhere: its first ones do for it. */
function wholeOf(text: string): bigint {
  const [, sign, digits = ''] = /^([+-]?)0*(\d*)$/.exec(text) ?? [];
  const value = BigInt(digits.slice(0, mostDigits));
  return sign === '-' ? -value : value;
}

function notA(type: string, value: CelValue | undefined): CelFailure {
  return new CelFailure(`no ${type} can be made of this ${typeNameOf(value ?? null)}`);
}

function boolOf(text: string): CelValue {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true;
  return ['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text) ? false : notA('bool', text);
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const base = 2;
const hexadecimal = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?\d+)$/;

/** As Go reads a number: also hexadecimal ones, infinities, and what is not a number. */
function doubleOf(text: string): CelValue {
  // Go takes underscores only where the base is to be found out from the text, which it is not here.
  if (decimal.test(text)) return finite(Number(text), text);
  if (/^[+-]?(?:inf|infinity)$/i.test(text)) return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^nan$/i.test(text)) return Number.NaN;
  const [, sign, whole = '', fraction = '', power] = hexadecimal.exec(text) ?? [];
  if (power === undefined || whole + fraction === '') return notA('double', text);
  const bits = Number(power) - 4 * fraction.length;
  const size = Number(`0x${whole}${fraction}`) * base ** bits;
  return finite(sign === '-' ? -size : size, text);
}

function finite(value: number, text: string): CelValue {
  return Number.isFinite(value) ? value : notA('double', text);
}

function intOf(value: number): CelValue {
  if (!(value > -(2 ** 63) && value < 2 ** 63)) return new CelFailure('the number does not fit into 64 bits');
  return BigInt(Math.trunc(value));
}

function uintOf(value: number): CelValue {
  if (!(value >= 0 && value < 2 ** 64)) return new CelFailure('the number does not fit into 64 bits without a sign');
  return new CelUint(BigInt(Math.trunc(value)));
}

/** As Go's `%g` has it. */
function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  if (value === 0) return '0';
  const [digits = '', power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return plainText(value);
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${digits}e${exponent < 0 ? '-' : '+'}${size}`;
}

function plainText(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(22).replace(/0+$/, '') : text;
}

function textOf(bytes: Uint8Array): CelValue {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new CelFailure('these bytes are no text');
  }
}
