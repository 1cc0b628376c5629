// Behaviour of third_party/forked/golang/expansion, v1.36.3.

/** What a text must not grow beyond. */
export interface ExpansionLimit {
  /** The most bytes of the result. */
  readonly mostBytes: number;
  /** Makes the error that is thrown beyond it. */
  readonly tooLong: () => Error;
}

/**
 * The text with each `$(NAME)` replaced by what `lookUp` gives for the name; `$$` is a dollar sign. What has no value stays as it
 * is. The limit holds for the result while it grows, so that short references to long values fill no memory. Each character of the
 * text is looked at a fixed number of times.
 */
export function expanded(text: string, lookUp: (name: string) => string | undefined, limit: ExpansionLimit): string {
  const parts: string[] = [];
  let size = 0;
  const add = (part: string): void => {
    if (part === '') return;
    size += Buffer.byteLength(part);
    if (size > limit.mostBytes) throw limit.tooLong();
    parts.push(part);
  };
  let taken = 0;
  const replace = (start: number, end: number, value: string): void => {
    add(text.slice(taken, start));
    add(value);
    taken = end;
  };
  // once nothing closes a reference, nothing later will
  let canClose = true;
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', at)) {
    const next = text[at + 1];
    const end = next === '(' && canClose ? text.indexOf(')', at + 2) : -1;
    if (next === '$') {
      replace(at, at + 2, '$');
      at += 2;
    } else if (end >= 0) {
      const value = lookUp(text.slice(at + 2, end));
      if (value !== undefined) replace(at, end + 1, value);
      at = end + 1;
    } else {
      if (next === '(') canClose = false;
      at += 1;
    }
  }
  add(text.slice(taken));
  return parts.length === 1 && parts[0] === text ? text : parts.join('');
}
