// Behaviour of sigs.k8s.io/yaml YAMLToJSON over go.yaml.in/yaml/v2 decode.go.
import { EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE, YAMLException } from 'js-yaml';
import { firstDocument } from './first-document.ts';
import { ManifestFault } from './invalid-manifest.ts';
import { type ManifestObject, type ManifestValue, NumberText } from './manifest-value.ts';
import { resolvePlain, resolveTagged } from './resolve-scalar.ts';

/** What YAML 1.1 does not allow, and the line ends that YAML 1.2 takes for text: what reads as a comment here would be content there. */
const unreadable = /[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
/** A pod nests about 15 deep; what goes deeper is not one. */
const maxDepth = 100;
/** Values that aliases may bring beside those that are written out. */
const maxAliasedValues = 100_000;

/** Reads the first document of the text. Throws a fault for what is no YAML, and for aliases that grow into too much. */
export function readYaml(text: string): ManifestValue {
  const source = firstDocument(text);
  const strange = unreadable.exec(source);
  if (strange !== null) throw new ManifestFault('', 'free of control characters and strange line ends', strange[0]);
  try {
    return new DocumentReader(source, parseEvents(source, { maxDepth })).read();
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
  /** Anchors with their value and how many values are in it; null while it is being read, since no value may contain itself. */
  readonly #anchors = new Map<string, { readonly value: ManifestValue; readonly size: number } | null>();
  #next = 0;
  #size = 0;
  #aliased = 0;

  constructor(source: string, events: readonly Event[]) {
    this.#source = source;
    this.#events = events;
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
    if (event.tagStart >= 0) return resolveTagged(shortTag(this.#source.slice(event.tagStart, event.tagEnd)), text);
    return event.style === SCALAR_STYLE.PLAIN ? resolvePlain(text) : text;
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
      if (isMerge) merge(members, value, isAlias);
      else members.set(keyText(key), value);
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

/** The first of several maps wins over those behind it. */
function merge(members: ManifestObject, value: ManifestValue, isAlias: boolean): void {
  const maps = value instanceof Map ? [value] : Array.isArray(value) && !isAlias ? value.toReversed() : [undefined];
  for (const map of maps) {
    if (!(map instanceof Map)) throw new ManifestFault('', 'free of merges of anything but mappings', '<<');
    for (const [key, inner] of map) members.set(key, inner);
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
