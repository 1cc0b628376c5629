import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commonLogFields, forbiddenLogFields, otherLogFields } from './log-field-names.ts';
import { type LogLine, readLogLines } from './log-lines.ts';
import { readTree, root } from './source-tree.ts';

/** Floors and rooms whose lines do not have the common fields yet. */
const notYet: readonly string[] = [];
/** Hands lines on, whatever they are. */
const forwarder = 'src/base/logging/logger.ts';

const allowed = { ...commonLogFields, ...otherLogFields };
const podNames = ['podUID', 'podName', 'podNamespace'];

function wrongMessage({ message }: LogLine): string[] {
  if (message === undefined) return ['the message is no constant'];
  if (!/^(?:[a-z]|TLS )/.test(message)) return ['the message does not begin in lower case'];
  return message.endsWith('.') ? ['the message has a full stop'] : [];
}

function wrongField(name: string): string[] {
  const other = forbiddenLogFields[name];
  if (other !== undefined) return [`\`${name}\` is to be ${other}`];
  return Object.hasOwn(allowed, name) ? [] : [`\`${name}\` is no known field: log-field-names.ts`];
}

function wrongFields({ fields, hidesFields }: LogLine): string[] {
  if (hidesFields) return ['the compiler does not know the fields: give them a type'];
  return fields.flatMap((names) => {
    const named = podNames.filter((name) => names.includes(name));
    const missing = podNames.filter((name) => named.length > 0 && !names.includes(name));
    return [...names.flatMap(wrongField), ...missing.map((name) => `\`${name}\` is missing`)];
  });
}

const told = (lines: readonly LogLine[], wrong: (line: LogLine) => string[]): string[] =>
  lines.flatMap((line) => wrong(line).map((what) => `${line.at}: ${what}`));

describe('the log lines of src', () => {
  const lines = readLogLines().filter(({ path }) => path !== forwarder);
  const ready = lines.filter(({ path }) => !notYet.some((folder) => path.startsWith(folder)));

  it('have a constant message, which begins in lower case and has no full stop', () => {
    expect(lines.length).toBeGreaterThan(200);
    expect(told(lines, wrongMessage)).toEqual([]);
  });

  it('have fields of the common names, and name a pod by uid, name and namespace', () => {
    expect(ready.length).toBeGreaterThan(100);
    expect(told(ready, wrongFields)).toEqual([]);
  });

  it('use every name of the lists', () => {
    const used = new Set(lines.flatMap(({ fields }) => fields.flat()));
    expect(Object.keys(allowed).filter((name) => !used.has(name))).toEqual([]);
    expect(Object.keys(allowed).filter((name) => Object.hasOwn(forbiddenLogFields, name))).toEqual([]);
  });

  it('go to the logger of the part: no part decides by itself to be silent', () => {
    const named = readTree('src').filter(
      ({ path, code }) => !path.startsWith('src/base/logging/') && /\bsilentLogger\b/.test(code),
    );
    expect(named.map(({ path }) => path)).toEqual([]);
  });

  it('have fields that the guide explains', () => {
    const guide = readFileSync(join(root, 'docs/guides/logs-and-errors.md'), 'utf8');
    const tables = [...guide.matchAll(/\| field \| what it says \|\n\|---\|---\|\n((?:\|.*\|\n)+)/g)].map(([, rows = '']) =>
      Object.fromEntries([...rows.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, name = '', meaning]) => [name, meaning])),
    );
    expect(tables).toEqual([commonLogFields, otherLogFields]);
  });
});

describe('a wrong log line', () => {
  const cases: readonly (readonly [code: string, wrong: readonly string[]])[] = [
    ["logger.warn({ err, attempt: 1 }, 'a pod waits')", []],
    ["logger?.warn({}, 'a pod waits')", []],
    ["logger.info({ err, ...named }, 'a pod waits')", []],
    ["logger.info(err ? named : { node: 'n' }, 'TLS is off')", []],
    ['logger.warn({ err }, `a pod waits`)', ['the message is no constant']],
    ["logger.warn({ err }, 'a pod ' + err)", ['the message is no constant']],
    ['logger.warn({ err }, message)', ['the message is no constant']],
    [
      "logger.warn('a pod waits' as never)",
      ['the message is no constant', 'the compiler does not know the fields: give them a type'],
    ],
    ["logger.warn({ err }, 'A pod waits')", ['the message does not begin in lower case']],
    ["logger.warn({ err }, 'a pod waits.')", ['the message has a full stop']],
    ["logger.warn({ error: err }, 'a pod waits')", ['`error` is to be err']],
    ["const fields = { delayMs: 1 }; logger.warn({ err, ...fields }, 'a pod waits')", ['`delayMs` is to be retryInMs']],
    ["const log = logger; log.error({ colour: 1 }, 'a pod waits')", ['`colour` is no known field: log-field-names.ts']],
    ["logger.warn({ podUID: 'u', podName: 'n' }, 'a pod waits')", ['`podNamespace` is missing']],
    ["logger.info(err ? named : { podUID: 'u' }, 'a pod waits')", ['`podName` is missing', '`podNamespace` is missing']],
    ["logger.warn(unknown, 'a pod waits')", ['the compiler does not know the fields: give them a type']],
    ["logger.warn({ err, ...unknown }, 'a pod waits')", ['the compiler does not know the fields: give them a type']],
    ["logger[message as 'warn']({ err }, message)", ['the message is no constant']],
    ['console.warn(message, err)', []],
  ];
  const path = 'src/base/grpc-codes.ts';
  const lines = readLogLines({
    [path]: [
      "import type { Logger } from './logging/logger.ts';",
      'declare const logger: Logger; declare const err: unknown; declare const unknown: object; declare const message: string;',
      'declare const named: { readonly podUID: string; readonly podName: string; readonly podNamespace: string | undefined };',
      ...cases.map(([code]) => `{ ${code}; }`),
    ].join('\n'),
  });

  it.each(cases.map(([code, wrong], index) => ({ code, wrong, at: `${path}:${index + 4}` })))('is found: $code', ({
    wrong,
    at,
  }) => {
    const found = lines.filter((line) => line.at === at);
    expect(found.flatMap((line) => [...wrongMessage(line), ...wrongFields(line)])).toEqual(wrong);
  });
});
