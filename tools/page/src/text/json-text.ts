/** A value on one line. `undefined` stands for a member that is not there. */
export function oneLine(value: unknown): string {
  return value === undefined ? 'not there' : (JSON.stringify(value) ?? String(value));
}

/** A value on as many lines as it has members. A text that is JSON itself, as a body on the wire, is read first. */
export function manyLines(value: unknown): string {
  const read = typeof value === 'string' ? parsed(value) : value;
  return typeof read === 'string' ? read : (JSON.stringify(read, undefined, 2) ?? String(read));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
