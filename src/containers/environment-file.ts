// Behaviour of pkg/kubelet/util/env, v1.36.3.

/**
 * The value of a variable in a file of lines such as `NAME='value'`, where a value may go over several lines; undefined where the
 * file has none. Throws an `Error` that names the line for any other form.
 */
export function environmentFileValue(text: string, key: string): string | undefined {
  const lines = text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.replace(/\r$/, ''));
  for (let index = 0; index < lines.length; index += 1) {
    const line = (lines[index] ?? '').replace(/^[ \t]+/, '');
    if (line === '' || line.startsWith('#')) continue;
    const name = nameOf(line, index + 1);
    const value = line.slice(name.length + 1);
    // as a shell has it: what follows a blank is another word, so the variable is empty
    if (/^[ \t]/.test(value)) {
      if (name === key) return '';
      continue;
    }
    const quoted = quotedValue(lines, index, value);
    if (name === key) return quoted.value;
    index = quoted.lastLine;
  }
  return undefined;
}

function nameOf(line: string, number: number): string {
  const end = line.indexOf('=');
  if (end < 0) throw wrongForm(number, "missing '='");
  const name = line.slice(0, end);
  if (name.trim() === '') throw wrongForm(number, 'empty variable name');
  if (/[ \t]$/.test(name)) throw wrongForm(number, "whitespace before '=' is not allowed");
  return name;
}

function quotedValue(
  lines: readonly string[],
  first: number,
  start: string,
): { readonly value: string; readonly lastLine: number } {
  if (!start.startsWith("'")) throw wrongForm(first + 1, 'value must be enclosed in single quotes');
  const parts: string[] = [];
  let rest = start.slice(1);
  for (let index = first; ; rest = lines[index] ?? '') {
    const end = rest.indexOf("'");
    if (end < 0) {
      parts.push(rest);
      index += 1;
      if (index >= lines.length)
        throw new Error(`invalid environment variable format starting at line ${first + 1}: unclosed single quote`);
      continue;
    }
    const after = rest.slice(end + 1).replace(/^[ \t]+/, '');
    if (after !== '' && !after.startsWith('#')) throw wrongForm(index + 1, 'unexpected content after closing quote');
    return { value: [...parts, rest.slice(0, end)].join('\n'), lastLine: index };
  }
}

function wrongForm(line: number, what: string): Error {
  return new Error(`invalid environment variable format at line ${line}: ${what}`);
}
