// Behaviour of go.yaml.in/yaml/v2 resolve.go, v2.4.3: which plain scalars of YAML 1.1 are numbers, booleans or null.
import { ManifestFault } from './invalid-manifest.ts';
import { type ManifestValue, NumberText } from './manifest-value.ts';

const words: ReadonlyMap<string, null | boolean> = new Map([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
]);
const notFinite = /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
/** Go's integers: with a prefix, or a leading zero for octal. Underscores are gone by now. */
const integer = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]([0-7]+)|0([0-7]+)|(0|[1-9][0-9]*))$/;
const prefixes = ['0x', '0b', '0o', '0o', ''] as const;
const firstDate = /^[0-9]{4}-/;
/** Longer than any number that fits, with every digit a bit. */
const longestNumber = 400;

/** The value of a plain scalar without a tag. */
export function resolvePlain(text: string): ManifestValue {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (!/^[-+.0-9]/.test(text) || text.length > longestNumber) return text;
  if (notFinite.test(text)) throw new ManifestFault('', 'free of numbers that JSON does not have', text);
  if (text[0] === '.') return float.test(text) ? floatText(text) : text;
  if (firstDate.test(text)) return text;
  const plain = text.replaceAll('_', '');
  return integerText(plain) ?? (float.test(plain) ? floatText(plain) : text);
}

/** Undefined for what is no integer of 64 bits. */
function integerText(plain: string): NumberText | undefined {
  const match = integer.exec(plain);
  if (match === null) return undefined;
  const kind = match.slice(2).findIndex((digits) => digits !== undefined);
  const size = BigInt(`${prefixes[kind]}${match[kind + 2]}`);
  if (match[1] === '-') return size <= 2n ** 63n ? new NumberText(String(-size)) : undefined;
  return size < 2n ** (match[1] === '+' ? 63n : 64n) ? new NumberText(String(size)) : undefined;
}

/** As Go writes a 64 bit float in JSON, which is as JavaScript does. A number beyond them stays text. */
function floatText(text: string): ManifestValue {
  const value = Number(text);
  return Number.isFinite(value) ? new NumberText(Object.is(value, -0) ? '-0' : String(value)) : text;
}

/** The value of a scalar with a tag, in any style. */
export function resolveTagged(tag: string, text: string): ManifestValue {
  switch (tag) {
    case '!!bool':
    case '!!null':
    case '!!int':
    case '!!float':
      return ofTag(tag, text);
    case '!!binary':
      return binary(text);
    default:
      return text;
  }
}

function ofTag(tag: string, text: string): ManifestValue {
  const value = resolvePlain(text);
  const isInteger =
    value instanceof NumberText && /^-?[0-9]+$/.test(value.text) && integerText(text.replaceAll('_', '')) !== undefined;
  const fits =
    (tag === '!!bool' && typeof value === 'boolean') ||
    (tag === '!!null' && value === null) ||
    (tag === '!!int' && isInteger) ||
    (tag === '!!float' && value instanceof NumberText);
  if (!fits) throw new ManifestFault('', `free of values that their tag ${tag} does not fit`, text);
  return value;
}

function binary(text: string): string {
  const base64 = text.replaceAll(/[\r\n]/g, '');
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    throw new ManifestFault('', 'free of !!binary values that are no base64', text);
  }
  return Buffer.from(base64, 'base64').toString('utf8');
}
