import { memberBytes } from './bytes.ts';

/** Where a value stands in a JSON text, and what it would take of memory. */
export interface JsonPlace {
  /** Its first byte, and the one after its last. */
  readonly start: number;
  readonly end: number;
  /** What `objectBytes` says of the value. */
  readonly bytes: number;
  /** Those of an object, by name, as deep as was asked for. Of a name that comes twice the last, as for JSON.parse. */
  readonly members: ReadonlyMap<string, JsonPlace>;
}

const [quote, comma, colon, backslash, letterU] = [0x22, 0x2c, 0x3a, 0x5c, 0x75];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Finds where the members of a JSON object stand, to this depth, and weighs them. It looks at each byte once and makes no value, so
 * that a part of a large text can be left out before anything is made of it. Undefined for a text whose brackets do not match; what
 * stands between them is not checked.
 */
export function jsonPlaces(text: Uint8Array, depth: number): JsonPlace | undefined {
  const scanner = new Scanner(text);
  const place = scanner.object(depth);
  return scanner.isAtEnd ? place : undefined;
}

/** The text with `null` in each of these places, parsed. They must not lie in one another. Throws as JSON.parse does. */
export function parseWithout(text: Buffer, places: readonly JsonPlace[]): unknown {
  let kept = '';
  let from = 0;
  for (const { start, end } of [...places].sort((a, b) => a.start - b.start)) {
    kept += `${text.toString('utf8', from, start)}null`;
    from = end;
  }
  return JSON.parse(kept + text.toString('utf8', from));
}

/** Its methods begin at the first byte of what they read, and end behind it; `#at` is behind the text once something is wrong. */
class Scanner {
  readonly #text: Uint8Array;
  #at = 0;

  constructor(text: Uint8Array) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    this.#skipSpace();
    return this.#at === this.#text.length;
  }

  object(depth: number): JsonPlace | undefined {
    this.#skipSpace();
    if (this.#text[this.#at] !== openBrace || depth === 0) return this.#value();
    const start = this.#at++;
    const members = new Map<string, JsonPlace>();
    let bytes = 0;
    for (this.#skipSpace(); this.#text[this.#at] !== closeBrace; this.#skipSpace()) {
      const nameAt = this.#at;
      const nameBytes = this.#string();
      const nameEnd = this.#at;
      this.#skipSpace();
      const place = this.#text[this.#at++] === colon ? this.object(depth - 1) : undefined;
      if (place === undefined) return this.#wrong();
      bytes += memberBytes + nameBytes + place.bytes;
      members.set(this.#name(nameAt, nameEnd), place);
      this.#skipSpace();
      if (this.#text[this.#at] === comma) this.#at++;
      else if (this.#text[this.#at] !== closeBrace) return this.#wrong();
    }
    return { start, end: ++this.#at, bytes, members };
  }

  /** A value, of which only the end and the weight are of interest. */
  #value(): JsonPlace | undefined {
    const text = this.#text;
    const start = this.#at;
    let bytes = 0;
    let open = 0;
    while (this.#at < text.length) {
      const byte = text[this.#at];
      // a comma or the end of what surrounds a number or a word
      if (open === 0 && (byte === comma || byte === closeBrace || byte === closeBracket)) break;
      if (byte === quote) {
        bytes += this.#string();
      } else {
        this.#at++;
        // there is one comma less than there are members
        if (byte === comma) bytes += memberBytes;
        else if (byte === openBrace || byte === openBracket) {
          open++;
          this.#skipSpace();
          const next = text[this.#at];
          if (next !== closeBrace && next !== closeBracket) bytes += memberBytes;
        } else if (byte === closeBrace || byte === closeBracket) open--;
      }
      if (open === 0 && (byte === quote || byte === closeBrace || byte === closeBracket)) break;
    }
    return open === 0 && this.#at > start ? { start, end: this.#at, bytes, members: new Map() } : undefined;
  }

  /** What the text takes as a string. */
  #string(): number {
    const text = this.#text;
    let units = 0;
    let isWide = false;
    let at = this.#at + 1;
    for (; at < text.length && text[at] !== quote; at++) {
      const byte = text[at] as number;
      if (byte < 0x80) {
        units++;
        if (byte === backslash) {
          at++;
          if (text[at] === letterU) {
            isWide ||= this.#escapesWide(at);
            at += 4;
          }
        }
      } else if (byte >= 0xc0) {
        // the first byte of a character of several; one of four bytes takes two places
        units += byte >= 0xf0 ? 2 : 1;
        isWide ||= byte >= 0xc4;
      }
    }
    this.#at = at + 1;
    return isWide ? 2 * units : units;
  }

  /** True for the escape of a character above U+00FF: its first two digits are not both 0. */
  #escapesWide(at: number): boolean {
    return this.#text[at + 1] !== 0x30 || this.#text[at + 2] !== 0x30;
  }

  #name(start: number, end: number): string {
    const bytes = this.#text.subarray(start, end);
    try {
      return String(JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')));
    } catch {
      return '';
    }
  }

  #skipSpace(): void {
    while (isSpace(this.#text[this.#at])) this.#at++;
  }

  #wrong(): undefined {
    this.#at = this.#text.length + 1;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
