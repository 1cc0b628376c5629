// Behaviour of third_party/forked/golang/expansion, v1.36.3.

/** What a text must not grow beyond. */
export interface ExpansionLimit {
  /** The most bytes of the result. */
  readonly mostBytes: number;
  /** Makes the error that is thrown beyond it. */
  readonly tooLong: () => Error;
}

const reference = /\$(?:(\$)|\(([^)]*)\))/g;

/**
 * The text with each `$(NAME)` replaced by what `lookUp` gives for the name; `$$` is a dollar sign. What has no value stays as it
 * is. The limit holds for the result while it grows, so that short references to long values fill no memory.
 */
export function expanded(text: string, lookUp: (name: string) => string | undefined, limit: ExpansionLimit): string {
  if (!text.includes('$')) return checked(text, limit);
  let result = '';
  let size = 0;
  let end = 0;
  const add = (part: string) => {
    size += Buffer.byteLength(part);
    if (size > limit.mostBytes) throw limit.tooLong();
    result += part;
  };
  for (const match of text.matchAll(reference)) {
    const [whole, dollar, name = ''] = match;
    add(text.slice(end, match.index));
    add(dollar ?? lookUp(name) ?? whole);
    end = match.index + whole.length;
  }
  add(text.slice(end));
  return result;
}

function checked(text: string, { mostBytes, tooLong }: ExpansionLimit): string {
  if (Buffer.byteLength(text) > mostBytes) throw tooLong();
  return text;
}
