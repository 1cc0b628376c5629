// Behaviour of strconv.Quote and unicode.IsPrint in Go.

/** What Go writes for characters that have a name of their own. */
export const shortEscapes: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** What is escaped, as many characters at once as there are. */
const notShown = /[[^\p{L}\p{M}\p{N}\p{P}\p{S} ]"\\]+/gv;

/** The text between quotation marks, as Go's `%q` writes it: what cannot be printed becomes an escape. */
export function goQuote(text: string): string {
  return `"${text.toWellFormed().replace(notShown, escapedAll)}"`;
}

function escapedAll(chars: string): string {
  let result = '';
  for (const char of chars) result += shortEscapes[char] ?? escaped(char);
  return result;
}

function escaped(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code < 0x80) return `\\x${digits.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}
