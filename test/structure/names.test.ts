import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCodes } from '../../src/base/errors.ts';
import { readTree, type SourceFile } from './source-tree.ts';

const made = /^src\/kubelet\/\w+\/proto\/\w+_pb\.ts$/;
/** The files on the floors. An entry point has the name of what it offers, and offers the names of others. */
const files = readTree('src').filter(({ path }) => !made.test(path) && path.split('/').length > 2);

const declaration = /^export (?:async )?(?:const|function\*?|class|interface|type|enum) (\w+)/gm;

function exportedNames({ path, code }: SourceFile): [name: string, path: string][] {
  // a function may be declared once for each form of its arguments
  return [...new Set([...code.matchAll(declaration)].map(([, name = '']) => name))].map((name) => [name, path]);
}

/** What is there more than once, each with its places. */
function repeated(entries: readonly (readonly [name: string, path: string])[]): Record<string, readonly string[]> {
  const places = new Map<string, string[]>();
  for (const [name, path] of entries) places.set(name, [...(places.get(name) ?? []), path]);
  return Object.fromEntries([...places].filter(([, paths]) => paths.length > 1));
}

function sourceFile(path: string, code: string): SourceFile {
  return { path, text: code, code, imports: [] };
}

describe('the names of src', () => {
  it('stand for one thing each: no name is exported by two files', () => {
    expect(files.flatMap(exportedNames).length).toBeGreaterThan(1000);
    expect(repeated(files.flatMap(exportedNames))).toEqual({});
  });

  it('lead to one file each', () => {
    expect(repeated(files.map(({ path }) => [basename(path), path]))).toEqual({});
  });

  it('are seen where they are exported', () => {
    const one = sourceFile('a.ts', 'export function keyOf(): string;\nexport function keyOf(): string {}\nconst nameOf = 1;');
    const other = sourceFile('b.ts', 'export async function* nameOf() {}\nexport const keyOf = 1;');
    expect(repeated([one, other].flatMap(exportedNames))).toEqual({ keyOf: ['a.ts', 'b.ts'] });
  });
});

/** The classes of errors of a file that do not say their own name: the name of their parent would stand in logs. */
function namelessErrors({ path, code }: SourceFile): string[] {
  const classes = [...code.matchAll(/class (\w+) extends \w*Error\b/g)].map(([, name = '']) => name);
  return classes.filter((name) => !code.includes(`name = '${name}'`)).map((name) => `${path}: ${name}`);
}

describe('an error', () => {
  const tests = ['test/unit', 'test/server'].flatMap(readTree);

  it('has the name of its class', () => {
    expect(readTree('src').flatMap(namelessErrors)).toEqual([]);
    const classes = "class A extends Error {}\nclass B extends RangeError { name = 'B' }";
    expect(namelessErrors(sourceFile('a.ts', classes))).toEqual(['a.ts: A']);
  });

  it.each(Object.keys(errorCodes))('with the code %s is expected by a test', (code) => {
    expect(tests.some((file) => file.code.includes(`'${code}'`))).toBe(true);
  });
});
