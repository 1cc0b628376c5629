import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTree, root } from './source-tree.ts';

const files = readTree('examples');
/** `x as T`, but for `as const`; old casts `<T>x` are refused by the compiler, and `x!` by the linter. */
const cast = /(?<=[\w)\]}'"`?]) as (?!const\b)/;

/** The code without strings, imports and exports: there `as` is a word, or gives a name. */
function withoutNames(code: string): string {
  return code
    .replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g, (found) => `''${found.replace(/[^\n]/g, '')}`)
    .replace(/^\s*(?:import|export)\b[^;]*?\bfrom\s*'';/gm, (found) => found.replace(/[^\n]/g, ' '));
}

function castsIn(code: string): string[] {
  return withoutNames(code)
    .split('\n')
    .flatMap((line, index) => (cast.test(line) ? [`${index + 1}: ${line.trim()}`] : []));
}

describe('the examples', () => {
  it('need no cast: the types of the library fit', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(files.flatMap(({ path, code }) => castsIn(code).map((found) => `${path}:${found}`))).toEqual([]);
  });

  it.each([
    'return answer as T;',
    'const { kind } = answer as { kind?: string };',
    'f(body as never);',
    'const a = (b as unknown) as C;',
    'x = list[0] as Pod',
  ])('would be found with the cast in: %s', (code) => {
    expect(castsIn(code)).toHaveLength(1);
  });

  it.each([
    "import { setTimeout as delay } from 'node:timers/promises';",
    "import {\n  one,\n  two as three,\n} from 'x';",
    "const list = ['a'] as const;",
    "log('as it is');",
  ])('may have: %s', (code) => {
    expect(castsIn(code)).toEqual([]);
  });

  it('import the package by its name, and nothing of its sources', () => {
    const paths = files.flatMap(({ path, imports }) => imports.map(({ specifier }) => `${path} ${specifier}`));
    // a real control plane is a part of the repository, not of the package
    const fromOutside = paths.filter((path) => /\.\.\/(?:\.\.\/)?(?:src|dist|test)\b/.test(path));
    expect(fromOutside).toEqual(['examples/virtual-node/world.ts ../../test/support/control-plane/control-plane.ts']);
    expect(paths.some((path) => path.endsWith(' pod-status-manager/node'))).toBe(true);
  });

  it('are all in the table of their README', () => {
    const table = readFileSync(join(root, 'examples/README.md'), 'utf8');
    const names = [...table.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\) \|/gm)].map(([, text, target]) => [text, target]);
    expect(names.filter(([text, target]) => text !== target)).toEqual([]);
    const there = ['examples', 'examples/testing'].flatMap((folder) =>
      readdirSync(join(root, folder), { withFileTypes: true })
        .filter((entry) => (entry.isFile() ? entry.name.endsWith('.ts') : entry.name !== 'testing'))
        .map(({ name }) => join(folder, name).slice('examples/'.length)),
    );
    expect(names.map(([text]) => text).sort()).toEqual(there.sort());
  });
});
