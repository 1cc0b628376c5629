// Behaviour of Go's strconv.Quote.

const shortForms: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};
/** What Go holds for printable: letters, marks, numbers, punctuation, symbols and the space. */
const printable = /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

/** The text between quotes, as Go writes it: quotes, backslashes and what cannot be printed are escaped. */
export function goQuoted(text: string): string {
  let quoted = '"';
  for (const character of text.toWellFormed()) quoted += shortForms[character] ?? escaped(character);
  return `${quoted}"`;
}

function escaped(character: string): string {
  if (printable.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}
