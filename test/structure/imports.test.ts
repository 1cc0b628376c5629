import { describe, expect, it } from 'vitest';
import { doors, groundOfScheduler, groundOfTesting, rooms, schedulerRooms, testingRooms } from './rooms.ts';
import { importsOf, readTree, resolveImport, type SourceFile, withoutComments } from './source-tree.ts';

/** The only places in src that import these packages at run time; `import type` is allowed everywhere. */
const packageHomes: Readonly<Record<string, RegExp>> = {
  '@bufbuild/protobuf': /^src\/cri\//,
  '@bufbuild/protobuf/codegenv2': /^src\/cri\/proto\//,
  '@grpc/grpc-js': /^src\/cri\/connection\//,
  '@kubernetes/client-node': /^src\/(client|testing)\//,
  'js-yaml': /^src\/manifest\/text\//,
  'fast-json-patch': /^src\/(patch|testing)\//,
  'lodash.isequal': /^src\/status\//,
  'prom-client': /^src\/prometheus\//,
  // by its file: for `undici` itself Bun gives a stand-in of its own, which sends nothing
  'undici/index.js': /^src\/client\//,
};

const files = readTree('src');
const allRooms: readonly string[] = [...rooms, ...schedulerRooms, ...testingRooms];

/** `src/status/sync/sync-pod.ts` is in the room `status/sync`, `src/base/errors.ts` in `errors`. */
function roomOf(path: string): string {
  const place = path.replace(/^src\//, '').replace(/\.ts$/, '');
  return place.includes('/') ? place.slice(0, place.lastIndexOf('/')) : place;
}

function isDoor(path: string): boolean {
  return (doors as readonly string[]).includes(roomOf(path)) && /^src\/[^/]+\.ts$/.test(path);
}

function isOfScheduler(room: string): boolean {
  return (schedulerRooms as readonly string[]).includes(room);
}

/** True when a file in the room `from` may import one in the room `to`. */
function mayImport(from: string, to: string, typeOnly: boolean): boolean {
  const [own, other] = [allRooms.indexOf(from), allRooms.indexOf(to)];
  if (own < 0 || other < 0) return false;
  if (isOfScheduler(from)) return groundOfScheduler.includes(to) || (isOfScheduler(to) && other <= own);
  if (isOfScheduler(to)) return false;
  if (!from.startsWith('testing/') || to.startsWith('testing/')) return other <= own;
  return groundOfTesting.includes(to) || (typeOnly && (to === 'status' || to.startsWith('status/')));
}

function importsAgainstTheRules(file: SourceFile): string[] {
  return file.imports.flatMap(({ specifier, typeOnly }) => {
    const target = resolveImport(file.path, specifier);
    if (target === undefined) return [];
    const line = `${file.path} imports ${target}${typeOnly ? ' (types)' : ''}`;
    if (!target.startsWith('src/') || isDoor(target)) return [line];
    return isDoor(file.path) || mayImport(roomOf(file.path), roomOf(target), typeOnly) ? [] : [line];
  });
}

/** The import cycles, as `a -> b -> a`. Type imports make no cycle: they do not exist at run time. */
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
  it('go to the same room or one before it in the list, never to a door, never out of src', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.flatMap(importsAgainstTheRules)).toEqual([]);
  });

  it('are all in files of a listed room, and no listed room is empty', () => {
    const found = new Set(files.filter(({ path }) => !isDoor(path)).map(({ path }) => roomOf(path)));
    expect([...found].sort()).toEqual([...allRooms].sort());
  });

  it('make no cycle', () => {
    expect(importCycles(files)).toEqual([]);
  });

  it('reach each package only from its places', () => {
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
    ['src/concurrency/a.ts', "import { b } from '../client/b.ts';", 1],
    ['src/concurrency/a.ts', "import type { b } from '../client/b.ts';", 1],
    ['src/client/a.ts', "import type { StatusManager } from '../status/status-manager.ts';", 1],
    ['src/client/transport/a.ts', "import { b } from '../b.ts';", 1],
    ['src/client/a.ts', "import { b } from './transport/b.ts';", 0],
    ['src/status/cache/a.ts', "import type { b } from '../sync/b.ts';", 1],
    ['src/status/sync/a.ts', "import { b } from '../status-manager.ts';", 1],
    ['src/status/sync/a.ts', "import { b } from '../cache/b.ts';", 0],
    ['src/status/a.ts', "import {\n  b,\n  c,\n} from '../index.ts';", 1],
    ['src/status/a.ts', "import { b } from '../testing/fakes/b.ts';", 1],
    ['src/status/a.ts', "export { b } from '../pod/b.ts';", 0],
    ['src/attic/a.ts', "import { b } from '../errors.ts';", 1],
    ['src/testing/fakes/a.ts', "import { b } from '../../status/b.ts';", 1],
    ['src/testing/fakes/a.ts', "import type { b } from '../../status/b.ts';", 0],
    ['src/testing/pods-api/a.ts', "import { b } from '../fakes/b.ts';", 1],
    ['src/testing/fakes/a.ts', "import { b } from '../../conditions/b.ts';", 1],
    ['src/index.ts', "export { b } from './pod/b.ts';", 0],
    ['src/index.ts', "import '../test/support/b.ts';", 1],
    ['src/client/a.ts', "const b = await import('../status/b.ts');", 1],
  ])('%s: %s -> %i against the rules', (path, code, count) => {
    expect(importsAgainstTheRules(sourceFile(path, code))).toHaveLength(count);
  });

  it('see a cycle of values and none of types', () => {
    const a = sourceFile('src/client/a.ts', "import { b } from './b.ts';");
    const values = sourceFile('src/client/b.ts', "export * from './a.ts';");
    const types = sourceFile('src/client/b.ts', "export type { a } from './a.ts';");
    expect(importCycles([a, values])).toEqual(['src/client/a.ts -> src/client/b.ts -> src/client/a.ts']);
    expect(importCycles([a, types])).toEqual([]);
  });

  it('ignore comments', () => {
    expect(withoutComments("a('//x') // y\n/* b\n */c")).toBe("a('//x')     \n    \n   c");
  });
});
