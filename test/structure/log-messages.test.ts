import { describe, expect, it } from 'vitest';
import { readTree } from './source-tree.ts';

// whatever the logger is called there
const call = /\b[\w#]+\??\.(?:debug|info|warn|error)\((?!\))/g;
const literal = /^'(?:[^'\\]|\\.)*'$/;

/** The arguments of the call whose opening bracket is just before `start`. */
function argumentsAt(code: string, start: number): string[] {
  const found: string[] = [];
  let depth = 0;
  let quote = '';
  let from = start;
  for (let at = start; at < code.length; at += 1) {
    const char = code.charAt(at);
    if (quote !== '') {
      if (char === '\\') at += 1;
      else if (char === quote) quote = '';
    } else if (/['"`]/.test(char)) quote = char;
    else if (/[([{]/.test(char)) depth += 1;
    else if (depth === 0 && (char === ',' || char === ')')) {
      found.push(code.slice(from, at).trim());
      from = at + 1;
      if (char === ')') return found.filter((argument) => argument !== '');
    } else if (/[)\]}]/.test(char)) depth -= 1;
  }
  return found;
}

/** The messages of log lines in this code that are no literal, or do not read as the others. */
function wrongMessages(code: string): string[] {
  return [...code.matchAll(call)].flatMap(({ index, 0: text }) => {
    const found = argumentsAt(code, index + text.length);
    const message = found.at(-1) ?? '';
    const isRight = found.length === 2 && literal.test(message) && /^'(?:[a-z]|TLS )/.test(message) && !message.endsWith(".'");
    return isRight ? [] : [`${text}${found.join(', ')})`];
  });
}

describe('the log lines of src', () => {
  const files = readTree('src');

  it('have fields and a constant message, which begins in lower case and has no full stop', () => {
    const calls = files.flatMap(({ code }) => code.match(call) ?? []);
    expect(calls.length).toBeGreaterThan(100);
    expect(files.flatMap(({ path, code }) => wrongMessages(code).map((wrong) => `${path}: ${wrong}`))).toEqual([]);
  });

  it('go to the logger of the part: no part decides by itself to be silent', () => {
    const named = files.filter(({ path, code }) => !path.startsWith('src/base/logging/') && /\bsilentLogger\b/.test(code));
    expect(named.map(({ path }) => path)).toEqual([]);
  });

  it.each([
    ["this.#logger.warn({ podUID }, 'a pod waits')", 0],
    ["logger.warn({ a: f(')', x), ...{ b: [1, 2] } },\n  'a pod waits',\n)", 0],
    ['logger.warn({ podUID }, `a pod waits`)', 1],
    ["logger.warn({ podUID }, 'pod ' + podUID)", 1],
    ['logger.warn({ podUID }, message)', 1],
    ["logger.warn('a pod waits')", 1],
    ['const log = this.#options.logger;\n log.warn({}, `the pod waits`)', 1],
    ["logger.warn({}, 'A pod waits')", 1],
    ["logger.warn({}, 'a pod waits.')", 1],
  ])('are found, right and wrong: %s', (code, count) => {
    expect(wrongMessages(`{ ${code}; }`)).toHaveLength(count);
  });
});
