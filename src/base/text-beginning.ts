/**
 * The first `length` characters of a text, as a text of its own. What `slice` gives of a long text keeps all of that text in memory, so
 * whoever keeps a part for long takes it from here.
 */
export function textBeginning(text: string, length: number): string {
  return text.length <= length ? text : Buffer.from(text.slice(0, length), 'utf16le').toString('utf16le');
}
