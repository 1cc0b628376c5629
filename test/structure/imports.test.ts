import { describe, expect, it } from 'vitest';
import { entryPoints, floors, rooms } from './rooms.ts';
import { importsOf, readTree, resolveImport, type SourceFile, withoutComments } from './source-tree.ts';

/** The only places in src that import these packages at run time; `import type` is allowed everywhere. */
const packageHomes: Readonly<Record<string, RegExp>> = {
  '@bufbuild/protobuf': /^src\/kubelet\/(?:cri|grpc|plugins)\//,
  '@bufbuild/protobuf/codegenv2': /^src\/kubelet\/(?:cri|plugins)\/proto\//,
  '@bufbuild/protobuf/wkt': /^src\/kubelet\/plugins\/proto\//,
  '@grpc/grpc-js': /^src\/kubelet\/grpc\//,
  '@peculiar/asn1-csr': /^src\/node\/certificates\/certificate-request\.ts$/,
  '@peculiar/asn1-schema': /^src\/node\/certificates\/(certificate-request|self-signed)\.ts$/,
  '@peculiar/asn1-x509': /^src\/node\/certificates\/(certificate-request|self-signed|signed-parts)\.ts$/,
  // by a late import, for the users that it alone can authenticate
  '@kubernetes/client-node': /^src\/testing\/|^src\/client\/kubeconfig\/client-node-config\.ts$/,
  'dbus-native': /^src\/kubelet\/systemd\/open-system-bus\.ts$/,
  'js-yaml': /^src\/api\/manifest\/|^src\/node\/certificates\/node-kubeconfig\.ts$/,
  'fast-json-patch': /^src\/(api\/patch|testing)\//,
  'lodash.isequal': /^src\/status\//,
  // by a late require, at the first regular expression
  re2js: /^src\/scheduler\/devices\/cel\/functions\/patterns\.ts$/,
  'prom-client': /^src\/observe\/prometheus-metrics\.ts$/,
  ws: /^src\/node\/streams\//,
  // by its file: for `undici` itself Bun gives a stand-in of its own, which sends nothing
  'undici/index.js': /^src\/client\//,
};

const files = readTree('src');
const order = Object.keys(rooms);

/** `src/status/sync/sync-pod.ts` is in the room `status/sync`, and `src/base/errors.ts`, beside the rooms of its floor, is one itself. */
function roomOf(path: string): string {
  const place = path.replace(/^src\//, '').replace(/\.ts$/, '');
  return place.split('/').length > 2 ? place.slice(0, place.lastIndexOf('/')) : place;
}

function floorOf(place: string): string {
  return place.replace(/^src\//, '').replace(/\/.*/, '');
}

function isEntryPoint(path: string): boolean {
  return entryPoints.some((entryPoint) => path === `src/${entryPoint}.ts`);
}

function listed(text: string | undefined): readonly string[] {
  return (text ?? '').split(' ').filter((name) => name !== '');
}

function mayImport(from: string, to: string): boolean {
  const [own, other] = [floorOf(from), floorOf(to)];
  return from === to || (listed(rooms[from]).includes(to) && (own === other || listed(floors[own]).includes(other)));
}

/** The files of the repository that a file imports, types included. */
function targetsOf(file: SourceFile): string[] {
  return file.imports.flatMap(({ specifier }) => resolveImport(file.path, specifier) ?? []);
}

function importsAgainstTheRules(file: SourceFile): string[] {
  const isAllowed = (target: string): boolean =>
    target.startsWith('src/') &&
    !isEntryPoint(target) &&
    (isEntryPoint(file.path) || mayImport(roomOf(file.path), roomOf(target)));
  return targetsOf(file)
    .filter((target) => !isAllowed(target))
    .map((target) => `${file.path} imports ${target}`);
}

/** The pairs of rooms that the list allows, or that the files use. */
function pairsOf(text: Readonly<Record<string, string>>): string[] {
  return Object.entries(text).flatMap(([room, others]) => listed(others).map((other) => `${room} -> ${other}`));
}

function usedPairs(tree: readonly SourceFile[]): Set<string> {
  const inner = tree.filter(({ path }) => !isEntryPoint(path));
  return new Set(
    inner.flatMap((file) =>
      targetsOf(file)
        .map((target) => [roomOf(file.path), roomOf(target)] as const)
        .filter(([from, to]) => from !== to)
        .map(([from, to]) => `${from} -> ${to}`),
    ),
  );
}

/** The pairs that point at a room which stands later in the list, or at none: without them the list has no cycle. */
function pairsUpwards(list: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(list);
  return Object.entries(list).flatMap(([room, others]) =>
    listed(others)
      .filter((other) => !names.includes(other) || names.indexOf(other) >= names.indexOf(room))
      .map((other) => `${room} -> ${other}`),
  );
}

/** The import cycles, as `a -> b -> a`, those of types included: a reader meets them too. */
function importCycles(tree: readonly SourceFile[]): string[] {
  const byPath = new Map(tree.map((file) => [file.path, file]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const file = byPath.get(path);
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
    if (file === undefined || done.has(path) || trail.includes(path)) return;
    for (const target of targetsOf(file)) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const file of tree) visit(file.path, []);
  return cycles;
}

function sourceFile(path: string, code: string): SourceFile {
  return { path, text: code, code, imports: importsOf(code) };
}

describe('the imports of src', () => {
  it('go to the same room or to one that the list allows, on a floor below, never to an entry point, never out of src', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.flatMap(importsAgainstTheRules)).toEqual([]);
  });

  it('use every pair that the list allows', () => {
    const used = usedPairs(files);
    expect(pairsOf(rooms).filter((pair) => !used.has(pair))).toEqual([]);
  });

  it('are all in files of a listed room, and no listed room is empty', () => {
    const found = new Set(files.filter(({ path }) => !isEntryPoint(path)).map(({ path }) => roomOf(path)));
    expect([...found].sort()).toEqual([...order].sort());
    expect([...new Set(order.map(floorOf))]).toEqual(Object.keys(floors));
  });

  it('make no cycle of rooms: each room imports rooms before it in the list', () => {
    expect(pairsUpwards(rooms)).toEqual([]);
    expect(pairsUpwards(floors)).toEqual([]);
  });

  it('make no cycle of files', () => {
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
    ['src/base/concurrency/a.ts', "import { b } from '../../client/resources/b.ts';", 1],
    ['src/base/concurrency/a.ts', "import type { b } from '../../client/resources/b.ts';", 1],
    ['src/client/resources/a.ts', "import type { StatusManager } from '../../status/status-manager.ts';", 1],
    ['src/client/transport/a.ts', "import { b } from '../resources/b.ts';", 1],
    ['src/client/resources/a.ts', "import { b } from '../transport/b.ts';", 0],
    ['src/status/status-cache.ts', "import type { b } from './sync/b.ts';", 1],
    ['src/status/sync/a.ts', "import { b } from '../status-manager.ts';", 1],
    ['src/status/sync/a.ts', "import { b } from '../status-cache.ts';", 0],
    ['src/status/sync/a.ts', "import {\n  b,\n  c,\n} from '../../index.ts';", 1],
    ['src/status/sync/a.ts', "import { b } from '../../kubelet/cri/b.ts';", 1],
    ['src/status/sync/a.ts', "import { b } from '../../testing/fakes/b.ts';", 1],
    ['src/status/sync/a.ts', "export { b } from '../../api/json/b.ts';", 0],
    ['src/attic/old/a.ts', "import { b } from '../../base/errors.ts';", 1],
    ['src/scheduler/cycle/a.ts', "import { b } from '../../status/pods/b.ts';", 1],
    ['src/testing/fakes/a.ts', "import { b } from '../../status/pods/b.ts';", 1],
    ['src/testing/pods-api/a.ts', "import { b } from '../fakes/b.ts';", 1],
    ['src/index.ts', "export { b } from './status/pods/b.ts';", 0],
    ['src/index.ts', "import '../test/support/b.ts';", 1],
    ['src/client/resources/a.ts', "const b = await import('../../status/status-manager.ts');", 1],
  ])('%s: %s -> %i against the rules', (path, code, count) => {
    expect(importsAgainstTheRules(sourceFile(path, code))).toHaveLength(count);
  });

  it('see a pair that nobody uses', () => {
    const used = usedPairs([sourceFile('src/client/events/a.ts', "import { b } from '../resources/b.ts';")]);
    const list = { 'client/events': 'client/resources client/transport' };
    expect(pairsOf(list).filter((pair) => !used.has(pair))).toEqual(['client/events -> client/transport']);
  });

  it('see a pair that points upwards', () => {
    expect(pairsUpwards({ a: 'b', b: '', c: 'a b' })).toEqual(['a -> b']);
  });

  it.each(["export { a } from './a.ts';", "export type { a } from './a.ts';"])('see a cycle: %s', (back) => {
    const a = sourceFile('src/client/a.ts', "import { b } from './b.ts';");
    const cycle = 'src/client/a.ts -> src/client/b.ts -> src/client/a.ts';
    expect(importCycles([a, sourceFile('src/client/b.ts', back)])).toEqual([cycle]);
  });

  it('ignore comments', () => {
    expect(withoutComments("a('//x') // y\n/* b\n */c")).toBe("a('//x')     \n    \n   c");
  });
});
