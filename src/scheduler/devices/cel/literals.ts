import { CelCompileError } from './syntax.ts';

const single: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const escapes = /\\(?:([0-3][0-7][0-7])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/g;

/** The text between the quotes, with what its backslashes stand for. */
export function unescapedText(literal: string, at: number): string {
  const { raw, body } = unquoted(literal);
  if (raw) return body;
  return body.replace(escapes, (_, octal, hex, short, long, plain) => {
    if (plain !== undefined) return single[plain] ?? plain;
    const point = octal === undefined ? Number.parseInt(hex ?? short ?? long, 16) : Number.parseInt(octal, 8);
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
      throw new CelCompileError('an escape stands for no character of Unicode', at);
    }
    return String.fromCodePoint(point);
  });
}

/** The same for bytes, where an escape of two or three digits is one byte. */
export function unescapedBytes(literal: string, at: number): Uint8Array {
  const { raw, body } = unquoted(literal);
  const encoder = new TextEncoder();
  if (raw) return encoder.encode(body);
  const parts: number[] = [];
  let last = 0;
  for (const match of body.matchAll(escapes)) {
    parts.push(...encoder.encode(body.slice(last, match.index)));
    last = match.index + match[0].length;
    const [, octal, hex, short, long, plain] = match;
    if (short !== undefined || long !== undefined) throw new CelCompileError('bytes have no escapes of \\u and \\U', at);
    if (plain !== undefined) parts.push(...encoder.encode(single[plain] ?? plain));
    else parts.push(octal === undefined ? Number.parseInt(hex ?? '0', 16) : Number.parseInt(octal, 8));
  }
  parts.push(...encoder.encode(body.slice(last)));
  return Uint8Array.from(parts);
}

function unquoted(literal: string): { raw: boolean; body: string } {
  const raw = /^[rR]/.test(literal);
  const text = (raw ? literal.slice(1) : literal).replace(/\r\n?/g, '\n');
  const quotes = text.length >= 6 && /^("""|''')/.test(text) ? 3 : 1;
  return { raw, body: text.slice(quotes, -quotes) };
}
