import { shortEscapes } from '../../../../api/json/go-quote.ts';
import type { CelMeter } from '../cel-meter.ts';
import { CelFailure, CelList, type CelValue, characterCount, typeNameOf } from '../values.ts';
import { searchWork, tooLong } from './basics.ts';
import type { CelFunction } from './dispatch.ts';
import type { Patterns } from './patterns.ts';

/** Functions of texts, by form. */
export const textFunctions: Readonly<Record<string, CelFunction>> = {
  string_char_at_int: ([text, index], meter) => charAt(text as string, index as bigint, meter),
  string_index_of_string: ([text, part], meter) => indexOf(text as string, part as string, 0n, meter),
  string_index_of_string_int: ([text, part, from], meter) => indexOf(text as string, part as string, from as bigint, meter),
  string_last_index_of_string: ([text, part], meter) => lastIndex(text as string, part as string, meter),
  string_last_index_of_string_int: ([text, part, from], meter) =>
    lastIndexOf(text as string, part as string, from as bigint, meter),
  string_lower_ascii: ([text]) => (text as string).replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
  string_upper_ascii: ([text]) => (text as string).replace(/[a-z]+/g, (letters) => letters.toUpperCase()),
  string_replace_string_string: ([text, old, now], meter) => replace(text as string, old as string, now as string, -1, meter),
  string_replace_string_string_int: ([text, old, now, count], meter) =>
    replace(text as string, old as string, now as string, Number(count), meter),
  string_split_string: ([text, separator], meter) => split(text as string, separator as string, -1, meter),
  string_split_string_int: ([text, separator, most], meter) => split(text as string, separator as string, Number(most), meter),
  string_substring_int: ([text, from], meter) => substring(text as string, meter, from as bigint),
  string_substring_int_int: ([text, from, to], meter) => substring(text as string, meter, from as bigint, to as bigint),
  string_trim: ([text]) => trimmed(text as string),
  list_join: ([list], meter) => join(list as CelList, '', meter),
  list_join_string: ([list, separator], meter) => join(list as CelList, separator as string, meter),
  strings_quote: ([text], meter) => quoted(text as string, meter),
};

/** Functions with regular expressions, by name. */
export function patternFunctions(patterns: Patterns): Readonly<Record<string, CelFunction>> {
  return {
    matches: ([text, pattern], meter) =>
      typeof text === 'string' && typeof pattern === 'string' ? patterns.test(pattern, text, meter) : notTexts(text, pattern),
    find: ([text, pattern], meter) => {
      if (typeof text !== 'string' || typeof pattern !== 'string') return notTexts(text, pattern);
      const found = patterns.findAll(pattern, text, 1, meter);
      return found instanceof CelFailure ? found : (found[0] ?? '');
    },
    findAll: ([text, pattern, most = -1n], meter) => {
      if (typeof text !== 'string' || typeof pattern !== 'string' || typeof most !== 'bigint') return notTexts(text, pattern);
      const found = patterns.findAll(pattern, text, Number(most), meter);
      return found instanceof CelFailure ? found : new CelList(found);
    },
  };
}

function notTexts(...values: readonly (CelValue | undefined)[]): CelFailure {
  return new CelFailure(
    `a regular expression is for texts, not for ${values.map((value) => typeNameOf(value ?? null)).join(' and ')}`,
  );
}

function outside(index: bigint): CelFailure {
  return new CelFailure(`there is no place ${index} in the text`);
}

/** The characters, one by one, each of which takes room. */
function charactersOf(text: string, meter: CelMeter): string[] {
  meter.work(Math.ceil(text.length / 4));
  return [...text];
}

function charAt(text: string, index: bigint, meter: CelMeter): CelValue {
  const characters = charactersOf(text, meter);
  if (index < 0n || index > characters.length) return outside(index);
  return characters[Number(index)] ?? '';
}

function indexOf(text: string, part: string, from: bigint, meter: CelMeter): CelValue {
  if (part === '') return from;
  if (from < 0n) return outside(from);
  const characters = charactersOf(text, meter);
  if (from >= characters.length) return -1n;
  return firstPlace(characters, charactersOf(part, meter), Number(from), 1, meter);
}

function lastIndex(text: string, part: string, meter: CelMeter): CelValue {
  const count = BigInt(characterCount(text));
  if (part === '') return count;
  if (Buffer.byteLength(text) < Buffer.byteLength(part)) return -1n;
  return lastIndexOf(text, part, count - 1n, meter);
}

function lastIndexOf(text: string, part: string, from: bigint, meter: CelMeter): CelValue {
  if (part === '') return from;
  if (from < 0n) return outside(from);
  const characters = charactersOf(text, meter);
  const wanted = charactersOf(part, meter);
  if (from >= characters.length) return -1n;
  return firstPlace(characters, wanted, Math.min(Number(from), characters.length - wanted.length), -1, meter);
}

function firstPlace(
  characters: readonly string[],
  wanted: readonly string[],
  from: number,
  step: number,
  meter: CelMeter,
): CelValue {
  for (let i = from; i >= 0 && i <= characters.length - wanted.length; i += step) {
    let same = 0;
    while (same < wanted.length && characters[i + same] === wanted[same]) same++;
    meter.work(same + 1);
    if (same === wanted.length) return BigInt(i);
  }
  return -1n;
}

function replace(text: string, old: string, now: string, most: number, meter: CelMeter): CelValue {
  const parts = old === '' ? ['', ...charactersOf(text, meter), ''] : piecesOf(text, old, meter);
  const places = parts.length - 1;
  const count = most < 0 ? places : Math.min(most, places);
  const tooMuch = tooLong(text.length + count * (now.length - old.length));
  if (tooMuch !== undefined) return tooMuch;
  meter.work(Math.ceil((text.length + count * now.length) / 4));
  const changed = parts.slice(0, count + 1).join(now);
  return count === places ? changed : [changed, ...parts.slice(count + 1)].join(old);
}

function piecesOf(text: string, separator: string, meter: CelMeter): string[] {
  meter.work(searchWork(text, separator) + Math.ceil(text.length / 4));
  return text.split(separator);
}

/** As Go's SplitN: less than zero is without a limit, and the rest is the last element. */
function split(text: string, separator: string, most: number, meter: CelMeter): CelValue {
  if (most === 0) return new CelList([]);
  const parts = separator === '' ? charactersOf(text, meter) : piecesOf(text, separator, meter);
  if (most < 0 || parts.length <= most) return new CelList(parts);
  return new CelList([...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)]);
}

function substring(text: string, meter: CelMeter, from: bigint, to?: bigint): CelValue {
  const characters = charactersOf(text, meter);
  const end = to ?? BigInt(characters.length);
  if (to !== undefined && from > to) return new CelFailure(`a part of a text cannot begin at ${from} and end at ${to}`);
  if (from < 0n || from > characters.length) return outside(from);
  if (end < 0n || end > characters.length) return outside(end);
  return characters.slice(Number(from), Number(end)).join('');
}

// The white space of Unicode, which is not that of JavaScript.
const blank = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';

function trimmed(text: string): string {
  const isBlank = new RegExp(blank);
  let [start, end] = [0, text.length];
  while (start < end && isBlank.test(text[start] ?? '')) start++;
  while (end > start && isBlank.test(text[end - 1] ?? '')) end--;
  return text.slice(start, end);
}

function join({ items }: CelList, separator: string, meter: CelMeter): CelValue {
  const texts: string[] = [];
  let length = 0;
  for (const item of items) {
    if (typeof item !== 'string') return new CelFailure('only texts can be joined');
    length += item.length + separator.length;
    texts.push(item);
  }
  meter.work(items.length);
  const tooMuch = tooLong(length);
  if (tooMuch !== undefined) return tooMuch;
  meter.work(Math.ceil(length / 4));
  return texts.join(separator);
}

function quoted(text: string, meter: CelMeter): string {
  return `"${charactersOf(text, meter)
    .map((character) => shortEscapes[character] ?? character)
    .join('')}"`;
}
