import { describe, expect, it } from 'vitest';
import { importsOf, readTree, resolveImport, type SourceFile, withoutComments } from './source-tree.ts';

/** Imports point one way: what each part of src may import, beside itself. `types` may be imported as types only. */
const allowed: Readonly<Record<string, { readonly values: readonly string[]; readonly types?: readonly string[] }>> = {
  status: { values: ['pod', 'api', 'concurrency', 'errors', 'logger', 'metrics'] },
  pod: { values: ['errors', 'logger'], types: ['api'] },
  api: { values: ['concurrency', 'errors', 'logger'] },
  concurrency: { values: ['errors'] },
  testing: { values: ['pod', 'api', 'concurrency', 'errors', 'logger'], types: ['status'] },
  errors: { values: [] },
  logger: { values: [] },
  metrics: { values: [] },
};
/** Only here src meets these packages at run time; `import type` is free. */
const packageHomes: Readonly<Record<string, RegExp>> = {
  '@kubernetes/client-node': /^src\/(api|testing)\//,
  'fast-json-patch': /^src\/(api|testing)\//,
  'lodash.isequal': /^src\/status\//,
  undici: /^src\/api\//,
};

const files = readTree('src');

/** `src/status/sync-pod.ts` is of `status`, `src/errors.ts` of `errors`. */
function partOf(path: string): string {
  return path.split('/')[1]?.replace(/\.ts$/, '') ?? '';
}

function isDoor(path: string): boolean {
  return /^src\/[^/]+\.ts$/.test(path) && allowed[partOf(path)] === undefined;
}

function importsAgainstTheRules(file: SourceFile): string[] {
  return file.imports.flatMap(({ specifier, typeOnly }) => {
    const target = resolveImport(file.path, specifier);
    if (target === undefined) return [];
    const line = `${file.path} imports ${target}${typeOnly ? ' (types)' : ''}`;
    if (!target.startsWith('src/')) return [line];
    const isFolder = /^src\/[^/]+\//.test(target);
    if (!isFolder && isDoor(target)) return [line];
    if (isDoor(file.path)) return [];
    const from = partOf(file.path);
    const rule = allowed[from];
    const to = partOf(target);
    const fine = to === from || rule?.values.includes(to) || (typeOnly && rule?.types?.includes(to));
    return fine ? [] : [line];
  });
}

/** One cycle a file that closes one, as `a -> b -> a`. Types are gone at run time and make none. */
function importCycles(tree: readonly SourceFile[]): string[] {
  const byPath = new Map(tree.map((file) => [file.path, file]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const file = byPath.get(path);
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
    if (file === undefined || done.has(path) || trail.includes(path)) return;
    for (const { specifier, typeOnly } of file.imports) {
      const target = typeOnly ? undefined : resolveImport(path, specifier);
      if (target !== undefined) visit(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const file of tree) visit(file.path, []);
  return cycles;
}

function sourceFile(path: string, code: string): SourceFile {
  return { path, text: code, code, imports: importsOf(code) };
}

describe('the imports of src', () => {
  it('point one way, never at a door, never out of src', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.flatMap(importsAgainstTheRules)).toEqual([]);
  });

  it('make no cycle', () => {
    expect(importCycles(files)).toEqual([]);
  });

  it('reach each package from one place', () => {
    const strays = files.flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier, typeOnly }) => !typeOnly && !specifier.startsWith('.') && !specifier.startsWith('node:'))
        .filter(({ specifier }) => !packageHomes[specifier]?.test(path))
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
    expect(strays).toEqual([]);
  });
});

describe('the checks of imports', () => {
  it.each([
    ['src/concurrency/a.ts', "import { b } from '../api/b.ts';", 1],
    ['src/concurrency/a.ts', "import type { b } from '../api/b.ts';", 1],
    ['src/api/a.ts', "import type { StatusManager } from '../status/status-manager.ts';", 1],
    ['src/pod/a.ts', "import { b } from '../api/b.ts';", 1],
    ['src/pod/a.ts', "import type { b } from '../api/b.ts';", 0],
    ['src/status/a.ts', "import {\n  b,\n  c,\n} from '../index.ts';", 1],
    ['src/status/a.ts', "import { b } from '../testing/b.ts';", 1],
    ['src/status/a.ts', "export { b } from '../pod/b.ts';", 0],
    ['src/index.ts', "export { b } from './pod/b.ts';", 0],
    ['src/index.ts', "import '../test/support/b.ts';", 1],
    ['src/api/a.ts', "const b = await import('../status/b.ts');", 1],
  ])('%s: %s -> %i against the rules', (path, code, count) => {
    expect(importsAgainstTheRules(sourceFile(path, code))).toHaveLength(count);
  });

  it('see a cycle of values and none of types', () => {
    const a = sourceFile('src/api/a.ts', "import { b } from './b.ts';");
    const values = sourceFile('src/api/b.ts', "export * from './a.ts';");
    const types = sourceFile('src/api/b.ts', "export type { a } from './a.ts';");
    expect(importCycles([a, values])).toEqual(['src/api/a.ts -> src/api/b.ts -> src/api/a.ts']);
    expect(importCycles([a, types])).toEqual([]);
  });

  it('do not take a comment for code', () => {
    expect(withoutComments("a('//x') // y\n/* b\n */c")).toBe("a('//x')     \n    \n   c");
  });
});
