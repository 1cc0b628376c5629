import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../support/temp-dir.ts';
import { kinds } from './kinds/kinds.ts';
import { CasesError, readCases } from './replay/read-cases.ts';

async function fileOf(name: string, content: string | Uint8Array | undefined): Promise<string> {
  const file = join(await tempDir(), name);
  if (content !== undefined) writeFileSync(file, content);
  return file;
}

const advance = { op: 'advance', seconds: 1, expect: {} };
const scenario = (...steps: unknown[]): object => ({ name: 'one', start: '2000-01-01T00:00:00Z', steps });
const lines = (...values: unknown[]): string => values.map((value) => JSON.stringify(value)).join('\n');

const knownKinds = [...kinds.keys()].join(', ');

describe('readCases', () => {
  it('reads scenarios and table cases, zipped or not', async () => {
    const text = lines(scenario(advance), { fn: 'podManager', in: { steps: [] }, out: [] });
    for (const file of [await fileOf('good.jsonl', text), await fileOf('good.jsonl.gz', gzipSync(text))]) {
      const { scenarios, tables } = readCases(file);
      expect([scenarios.length, tables.length]).toEqual([1, 1]);
    }
  });

  it.each([
    ['a file that is not there', ['missing.jsonl', undefined], 'cannot be read'],
    ['a .gz that is none', ['no.jsonl.gz', 'text'], 'cannot be read'],
    ['a file without a case', ['empty.jsonl', '\n\n'], 'no scenario and no table case'],
    ['text that is no JSON', ['text.jsonl', `${lines(scenario(advance))}\nnot json`], ':2: no JSON'],
    ['JSON that is no case', ['other.jsonl', lines({ some: 'thing' })], ':1: neither a scenario nor a table case'],
    [
      'an unknown op',
      ['op.jsonl', lines(scenario(advance), scenario(advance, { op: 'explode', expect: {} }))],
      ':2: step 1 names an unknown op: "explode"',
    ],
    [
      'an op that is inherited',
      ['proto.jsonl', lines(scenario({ op: 'constructor', expect: {} }))],
      ':1: step 0 names an unknown op',
    ],
    [
      'an op without what it needs',
      ['lack.jsonl', lines(scenario({ op: 'setPodStatus', podUID: 'u', expect: {} }))],
      ':1: step 0 (setPodStatus) has no status',
    ],
    ['a step that expects nothing', ['none.jsonl', lines(scenario({ op: 'advance' }))], ':1: step 0 (advance) expects nothing'],
    [
      'an unknown expectation',
      ['typo.jsonl', lines(scenario({ op: 'advance', expect: { chache: {} } }))],
      'expects something unknown: chache',
    ],
    [
      'an unknown verb',
      ['verb.jsonl', lines(scenario({ op: 'advance', expect: { calls: [{ verb: 'put' }] } }))],
      'a call with an unknown verb',
    ],
    [
      'a start that is no time',
      ['start.jsonl', lines({ name: 'one', start: 'soon', steps: [] })],
      'a scenario without a time to start at',
    ],
    [
      'an unknown kind',
      ['kind.jsonl', lines({ kind: 'guess', name: 'one' })],
      `:1: unknown kind "guess"; known are ${knownKinds}`,
    ],
    ['a case of a kind without a name', ['name.jsonl', lines({ kind: 'refNames' })], ':1: a case without a name'],
    ['an unknown function', ['fn.jsonl', lines({ fn: 'guess', in: {}, out: {} })], ':1: unknown function "guess"'],
  ] as const)('names the file, and the line, of %s', async (_, [name, content], message) => {
    const file = await fileOf(name, content);
    const read = (): unknown => readCases(file);
    expect(read).toThrow(CasesError);
    expect(read).toThrow(file);
    expect(read).toThrow(message);
  });
});
