import { unescapedBytes, unescapedText } from './literals.ts';
import { CelCompileError } from './syntax.ts';
import { CelUint, type CelValue, maxUint, minInt } from './values.ts';

/** A piece of the text of an expression. */
export type CelToken =
  | { readonly kind: 'symbol' | 'word' | 'quotedWord' | 'end'; readonly text: string; readonly at: number }
  | { readonly kind: 'value'; readonly text: string; readonly at: number; readonly value: CelValue };

const blank = /(?:[\t \r\n\f]|\/\/[^\n]*)+/y;
const symbol = /==|!=|<=|>=|&&|\|\||[[\]{}().,\-!?:+*/%<>]/y;
const word = /[A-Za-z_][A-Za-z0-9_]*/y;
const quotedWord = /`[A-Za-z0-9_.\-/ ]+`/y;
const float = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y;
const integer = /(?:0x[0-9a-fA-F]+|\d+)[uU]?/y;
const escapeSequence = /\\(?:[abfnrtv"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})/.source;
const text = new RegExp(
  [
    String.raw`[rR]"""[\s\S]*?"""|[rR]'''[\s\S]*?'''`,
    `"""(?:${escapeSequence}|[^\\\\])*?"""|'''(?:${escapeSequence}|[^\\\\])*?'''`,
    String.raw`[rR]"[^"\n\r]*"|[rR]'[^'\n\r]*'`,
    String.raw`"(?:${escapeSequence}|[^\\"\n\r])*"|'(?:${escapeSequence}|[^\\'\n\r])*'`,
  ].join('|'),
  'y',
);
const beginsBytes = /[bB](?=[rR]?["'])/y;

/** The tokens of an expression, the last one of kind `end`. Numbers are without their sign. */
export function celTokens(source: string): CelToken[] {
  const tokens: CelToken[] = [];
  let at = 0;
  const read = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  for (;;) {
    at += read(blank)?.length ?? 0;
    if (at >= source.length) break;
    const token = textToken(read, at) ?? numberToken(read, at) ?? plainToken(read, at);
    if (token === undefined) throw new CelCompileError(`what begins here is no part of the language: ${shown(source, at)}`, at);
    tokens.push(token);
    at += token.text.length;
  }
  tokens.push({ kind: 'end', text: '', at });
  return tokens;
}

type Read = (pattern: RegExp) => string | undefined;

function textToken(read: Read, at: number): CelToken | undefined {
  const prefix = read(beginsBytes);
  if (prefix !== undefined) {
    const whole = read(new RegExp(`[bB](?:${text.source})`, 'y'));
    if (whole === undefined) return undefined;
    return { kind: 'value', text: whole, at, value: unescapedBytes(whole.slice(1), at) };
  }
  const found = read(text);
  return found === undefined ? undefined : { kind: 'value', text: found, at, value: unescapedText(found, at) };
}

function numberToken(read: Read, at: number): CelToken | undefined {
  const decimal = read(float);
  if (decimal !== undefined) {
    const value = Number(decimal);
    if (!Number.isFinite(value)) throw new CelCompileError(`the number ${decimal} is too large`, at);
    return { kind: 'value', text: decimal, at, value };
  }
  const found = read(integer);
  if (found === undefined) return undefined;
  const unsigned = /[uU]$/.test(found);
  const value = BigInt(unsigned ? found.slice(0, -1) : found);
  if (value > (unsigned ? maxUint : -minInt)) throw new CelCompileError(`the number ${found} is too large`, at);
  return { kind: 'value', text: found, at, value: unsigned ? new CelUint(value) : value };
}

function plainToken(read: Read, at: number): CelToken | undefined {
  const name = read(word);
  if (name === 'true' || name === 'false') return { kind: 'value', text: name, at, value: name === 'true' };
  if (name === 'null') return { kind: 'value', text: name, at, value: null };
  if (name === 'in') return { kind: 'symbol', text: name, at };
  if (name !== undefined) return { kind: 'word', text: name, at };
  const quoted = read(quotedWord);
  if (quoted !== undefined) return { kind: 'quotedWord', text: quoted, at };
  const sign = read(symbol);
  return sign === undefined ? undefined : { kind: 'symbol', text: sign, at };
}

function shown(source: string, at: number): string {
  return JSON.stringify(source.slice(at, at + 10));
}
