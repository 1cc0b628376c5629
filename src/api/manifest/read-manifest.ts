// Behaviour of k8s.io/apimachinery/pkg/util/yaml ToJSON, v0.36.3.

import { EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE, YAMLException } from 'js-yaml';
import { mebibyte } from '../json/bytes.ts';
import { ManifestFault } from './invalid-manifest.ts';

/** The longest manifest that is read: pkg/kubelet/config reads 10 MiB. Files are measured in bytes, text in UTF-16 units. */
export const longestManifest = 10 * mebibyte;

export interface ManifestReading {
  /** True: of the words that YAML 1.1 takes for booleans only true and false are such; yes, on, no and the like are text. */
  readonly onlyTrueAndFalse?: boolean;
  /** True: two members of one object may not have the same name, as in Kubernetes' strict decoding. Otherwise the last one counts. */
  readonly eachMemberOnce?: boolean;
}

/** Reads a manifest: JSON where it begins with a brace, and the first document of YAML otherwise. Throws a fault for what is neither. */
export function readManifest(text: string, reading: ManifestReading = {}): ManifestValue {
  if (text.length > longestManifest)
    throw new ManifestFault('', `at most ${longestManifest} characters long (it has ${text.length})`, text);
  try {
    return /^\s*\{/.test(text.slice(0, 10_000)) && !text.startsWith('\uFEFF') ? readJson(text, reading) : readYaml(text, reading);
  } catch (cause) {
    if (cause instanceof ManifestFault) throw cause;
    throw new ManifestFault('', `a text that can be read (${(cause as Error).message})`, text, { cause });
  }
}

/** What Node.js hands to a reviver beside key and value; the types of the language do not know it yet. */
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Reads JSON. Of two members with one name the last counts, unless each has to be there once. Throws a fault for anything else, also for too deep nesting. */
export function readJson(text: string, { eachMemberOnce = false }: ManifestReading = {}): ManifestValue {
  const revive: Reviver = (_key, value, { source }) => {
    if (typeof value === 'number') return new NumberText(source ?? String(value));
    if (typeof value === 'string') return value.toWellFormed();
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof NumberText) return value;
    return new Map(Object.entries(value));
  };
  try {
    const value = JSON.parse(text, revive as (key: string, value: unknown) => unknown) as ManifestValue;
    if (eachMemberOnce) refuseTwins(text);
    return value;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new ManifestFault('', `JSON${placeOf(cause)}`, text);
  }
}

const jsonParts = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/gs;

/** Refuses a name that two members of one object have. The text is JSON. */
function refuseTwins(text: string): void {
  const open: Set<string>[] = [];
  for (const [part, quoted, colon] of text.matchAll(jsonParts)) {
    if (part === '{') open.push(new Set());
    else if (part === '}') open.pop();
    else if (quoted !== undefined && colon !== undefined) noteMember(open.at(-1), String(JSON.parse(quoted)));
  }
}

function noteMember(names: Set<string> | undefined, name: string): void {
  if (names?.has(name)) throw new ManifestFault(name, 'there once in its object', name);
  names?.add(name);
}

/** Where JSON.parse stopped, if it says so. The rest of its message may quote the text, and a secret may be there. */
function placeOf({ message }: SyntaxError): string {
  const place = /\(line (\d+) column (\d+)\)$/.exec(message);
  return place === null ? '' : ` (wrong at line ${place[1]}, column ${place[2]})`;
}

// Behaviour of sigs.k8s.io/yaml YAMLToJSON over go.yaml.in/yaml/v2 decode.go.

/** What YAML 1.1 does not allow, and the line ends that YAML 1.2 takes for text: what reads as a comment here would be content there. */
const unreadable = /[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
/** A pod nests about 15 deep; what goes deeper is not one. */
const maxDepth = 100;
/** Values that aliases may bring beside those that are written out. */
const maxAliasedValues = 100_000;

/** Reads the first document of the text. Throws a fault for what is no YAML, and for aliases that grow into too much. */
function readYaml(text: string, reading: ManifestReading): ManifestValue {
  const source = firstDocument(text);
  const strange = unreadable.exec(source);
  if (strange !== null) throw new ManifestFault('', 'free of control characters and strange line ends', strange[0]);
  try {
    return new DocumentReader(source, parseEvents(source, { maxDepth }), reading).read();
  } catch (cause) {
    if (!(cause instanceof YAMLException)) throw cause;
    throw new ManifestFault('', `YAML (${describe(cause)})`, text);
  }
}

/** What the parser says, and where. Its message quotes lines of the text and its reason words of it: a secret may be among them. */
function describe({ reason, mark }: YAMLException): string {
  const words = reason.split(/["'`:<]/)[0]?.trim() ?? '';
  return mark === undefined ? words : `${words}, line ${mark.line + 1}, column ${mark.column + 1}`;
}

type ScalarEvent = Extract<Event, { valueStart: number }>;
type AnchoredEvent = Extract<Event, { tagStart: number }>;

/** Builds the value that the events of one document describe. */
class DocumentReader {
  readonly #source: string;
  readonly #events: readonly Event[];
  readonly #reading: ManifestReading;
  /** Anchors with their value and how many values are in it; null while it is being read, since no value may contain itself. */
  readonly #anchors = new Map<string, { readonly value: ManifestValue; readonly size: number } | null>();
  #next = 0;
  #size = 0;
  #aliased = 0;

  constructor(source: string, events: readonly Event[], reading: ManifestReading) {
    this.#source = source;
    this.#events = events;
    this.#reading = reading;
  }

  read(): ManifestValue {
    if (this.#take()?.type !== EVENT_ID.DOCUMENT || this.#isPop()) return null;
    return this.#value();
  }

  #take(): Event | undefined {
    return this.#events[this.#next++];
  }

  #isPop(): boolean {
    const event = this.#events[this.#next];
    return event === undefined || event.type === EVENT_ID.POP;
  }

  #value(): ManifestValue {
    const event = this.#take();
    if (event === undefined || event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) return null;
    this.#size += 1;
    if (event.type === EVENT_ID.ALIAS) return this.#alias(this.#source.slice(event.anchorStart, event.anchorEnd));
    const name = event.anchorStart < 0 ? undefined : this.#source.slice(event.anchorStart, event.anchorEnd);
    if (name !== undefined) this.#anchors.set(name, null);
    const before = this.#size;
    const value = this.#written(event);
    if (name !== undefined) this.#anchors.set(name, { value, size: this.#size - before + 1 });
    return value;
  }

  #written(event: AnchoredEvent): ManifestValue {
    if (event.type === EVENT_ID.SCALAR) return this.#scalar(event);
    return event.type === EVENT_ID.SEQUENCE ? this.#sequence() : this.#mapping();
  }

  #alias(name: string): ManifestValue {
    const target = this.#anchors.get(name);
    if (target === undefined) throw new ManifestFault('', 'free of aliases without an anchor', `*${name}`);
    if (target === null) throw new ManifestFault('', 'free of values that contain themselves', `*${name}`);
    this.#size += target.size;
    this.#aliased += target.size;
    if (this.#aliased > maxAliasedValues) throw new ManifestFault('', 'free of excessive aliases', `*${name}`);
    return target.value;
  }

  #scalar(event: ScalarEvent): ManifestValue {
    if (event.style === SCALAR_STYLE.DOUBLE_QUOTED) refuseEscapes(this.#source.slice(event.valueStart, event.valueEnd));
    const text = getScalarValue(this.#source, event);
    const value =
      event.tagStart >= 0
        ? resolveTagged(shortTag(this.#source.slice(event.tagStart, event.tagEnd)), text)
        : event.style === SCALAR_STYLE.PLAIN
          ? resolvePlain(text)
          : text;
    const isOtherWord = typeof value === 'boolean' && !/^(?:true|false)$/i.test(text);
    return isOtherWord && this.#reading.onlyTrueAndFalse ? text : value;
  }

  #sequence(): ManifestValue[] {
    const items: ManifestValue[] = [];
    while (!this.#isPop()) items.push(this.#value());
    this.#next++;
    return items;
  }

  /** The last of two members with one name counts, and a merged one counts from where the merge stands. */
  #mapping(): ManifestObject {
    const members: ManifestObject = new Map();
    while (!this.#isPop()) {
      const isMerge = this.#isMergeKey();
      const key = this.#value();
      const isAlias = this.#events[this.#next]?.type === EVENT_ID.ALIAS;
      const value = this.#value();
      if (isMerge) merge(members, value, isAlias, this.#reading);
      else setMember(members, keyText(key), value, this.#reading);
    }
    this.#next++;
    return members;
  }

  #isMergeKey(): boolean {
    const event = this.#events[this.#next];
    if (event?.type !== EVENT_ID.SCALAR || this.#source.slice(event.valueStart, event.valueEnd) !== '<<') return false;
    return event.tagStart < 0
      ? event.style === SCALAR_STYLE.PLAIN
      : shortTag(this.#source.slice(event.tagStart, event.tagEnd)) === '!!merge';
  }
}

/** Escapes that YAML 1.1 does not have: of a slash, of halves of a character, and of numbers that are no character. */
function refuseEscapes(quoted: string): void {
  for (const [found] of quoted.matchAll(/\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)/gs)) {
    const isCharacter = /^\\[uU](?:0000|00(?:0[0-9a-fA-F]|10))?(?![dD][89a-fA-F]..$)[0-9a-fA-F]{4}$/.test(found);
    const isForeign = found === '\\/' || (/^\\[uU]./.test(found) && !isCharacter);
    if (isForeign) throw new ManifestFault('', 'free of escapes that YAML 1.1 does not have', found);
  }
}

function shortTag(tag: string): string {
  return tag.replace(/^!?<?tag:yaml\.org,2002:([^>]*)>?$/, '!!$1');
}

function setMember(members: ManifestObject, name: string, value: ManifestValue, { eachMemberOnce }: ManifestReading): void {
  if (eachMemberOnce && members.has(name)) throw new ManifestFault(name, 'there once in its object', name);
  members.set(name, value);
}

/** The first of several maps wins over those behind it. */
function merge(members: ManifestObject, value: ManifestValue, isAlias: boolean, reading: ManifestReading): void {
  const maps = value instanceof Map ? [value] : Array.isArray(value) && !isAlias ? value.toReversed() : [undefined];
  for (const map of maps) {
    if (!(map instanceof Map)) throw new ManifestFault('', 'free of merges of anything but mappings', '<<');
    for (const [key, inner] of map) setMember(members, key, inner, reading);
  }
}

function keyText(key: ManifestValue): string {
  if (typeof key === 'string') return key;
  if (typeof key === 'boolean') return String(key);
  if (key instanceof NumberText && /^-?[0-9]+$/.test(key.text) && BigInt(key.text) < 2n ** 63n) return key.text;
  throw new ManifestFault(
    '',
    'free of keys that are neither text nor integers of 64 bits',
    key instanceof NumberText ? Number(key.text) : key === null ? null : typeof key,
  );
}

/** A document marker stands at the start of a line, whatever is open. */
const marker = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm;
const filledLine = /[^\r\n]+/g;
/** Blank, or a comment alone. */
const idleLine = /^[ \t]*(?:#|$)/;
const knownDirective = /^%(?:YAML[ \t]+1\.1[ \t]*(?:#|$)|TAG[ \t])/;

/**
 * The text up to the end of the first YAML document: what follows is not read, so that it may be anything.
 * Throws a fault for directives that the reader does not know. Behaviour of go.yaml.in/yaml/v2 Unmarshal, v2.4.3.
 */
function firstDocument(text: string): string {
  let begun = false;
  for (const { 0: found, index } of text.matchAll(marker)) {
    if (begun || found !== '---') return text.slice(0, index);
    const directives = directivesBefore(text, index);
    if (directives === undefined) return text.slice(0, index);
    begun = true;
    const strange = directives.find((line) => !knownDirective.test(line));
    if (strange !== undefined) throw new ManifestFault('', 'free of directives but those of YAML 1.1', strange);
  }
  return text;
}

/** The directives in front of the marker; undefined where there is more than directives, comments and blank lines. */
function directivesBefore(text: string, end: number): string[] | undefined {
  const directives: string[] = [];
  // line by line: one expression over all lines can take for ever
  for (const [line] of text.slice(text.startsWith('\uFEFF') ? 1 : 0, end).matchAll(filledLine)) {
    if (line.startsWith('%')) directives.push(line);
    else if (!idleLine.test(line)) return undefined;
  }
  return directives;
}

// Behaviour of go.yaml.in/yaml/v2 resolve.go, v2.4.3: which plain scalars of YAML 1.1 are numbers, booleans or null.

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
function resolvePlain(text: string): ManifestValue {
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
function resolveTagged(tag: string, text: string): ManifestValue {
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

/** A number as it was written, or as Go writes it in JSON: no digit is lost. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value of a manifest. Objects are maps, so that no key means anything to JavaScript. */
export type ManifestValue = null | boolean | string | NumberText | ManifestValue[] | ManifestObject;
export type ManifestObject = Map<string, ManifestValue>;

/** How an error shows the value. */
export function shown(value: ManifestValue): unknown {
  if (value instanceof NumberText) return Number(value.text);
  return value instanceof Map ? {} : value;
}
