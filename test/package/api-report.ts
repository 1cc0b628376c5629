import { readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root, withoutComments } from '../structure/source-tree.ts';
import { sizesSection } from './sizes-section.ts';

/** The declarations of one declaration file. */
interface Declarations {
  /** The text of each declaration, without comments and private members. */
  readonly byName: ReadonlyMap<string, string>;
  /** The file that each imported or re-exported name comes from. */
  readonly origins: ReadonlyMap<string, string>;
  readonly exported: readonly string[];
}

/** The top-level statements: the compiler starts each at the start of a line and indents its other lines. */
function statementsOf(declarationFile: string): string[] {
  const lines = withoutComments(declarationFile)
    .split('\n')
    .filter((line) => line.trim() !== '' && line.trim() !== '#private;');
  return lines
    .map((line) => line.trimEnd())
    .join('\n')
    .split(/\n(?=[a-z])/);
}

function readDeclarations(dist: string, file: string): Declarations {
  const byName = new Map<string, string>();
  const origins = new Map<string, string>();
  const exported: string[] = [];
  for (const statement of statementsOf(readFileSync(join(dist, file), 'utf8'))) {
    const [, keyword, names, origin] = statement.match(/^(import|export)(?: type)? \{([^}]*)\}(?: from '([^']+)')?;/) ?? [];
    const name = statement.match(/^(?:export )?(?:declare )?(?:abstract )?(?:class|function|const|interface|type) (\w+)/)?.[1];
    if (names !== undefined) {
      const list = names
        .split(',')
        .map((item) => item.trim().replace(/^type /, ''))
        .filter((item) => item !== '');
      if (origin?.startsWith('.')) for (const item of list) origins.set(item, posix.join(posix.dirname(file), origin));
      if (keyword === 'export') exported.push(...list);
    } else if (name !== undefined) {
      const text = statement.replace(/^export /, '').replace(/^declare /, '');
      const overloads = byName.get(name);
      byName.set(name, overloads === undefined ? text : `${overloads}\n${text}`);
    }
  }
  return { byName, origins, exported };
}

interface Declaration {
  readonly name: string;
  /** The file with the declaration. */
  readonly file: string;
  readonly text: string;
}

type ReadFile = (file: string) => Declarations;

/** Follows a name through imports to the file that declares it; undefined when no file of the package declares it. */
function find(read: ReadFile, file: string, name: string): Declaration | undefined {
  const { byName, origins } = read(file);
  const text = byName.get(name);
  if (text !== undefined) return { name, file, text };
  const origin = origins.get(name);
  return origin === undefined ? undefined : find(read, origin.replace(/\.[jt]s$/, '.d.ts'), name);
}

function exportsOf(read: ReadFile, entryPoint: string): Declaration[] {
  return [...read(entryPoint).exported].sort().map((name) => {
    const declaration = find(read, entryPoint, name);
    if (declaration === undefined) throw new Error(`${entryPoint} exports ${name}, which no file declares`);
    return declaration;
  });
}

/** The declarations that exported ones name, directly or not, and that no entry point exports. */
function unexportedOf(read: ReadFile, exported: readonly Declaration[]): Declaration[] {
  const seen = new Map(exported.map((declaration) => [declaration.name, declaration]));
  const queue = [...exported];
  for (const { file, text } of queue) {
    for (const word of text.match(/\b[A-Z]\w*|(?<=\btypeof )\w+/g) ?? []) {
      const declaration = seen.has(word) ? undefined : find(read, file, word);
      if (declaration === undefined) continue;
      seen.set(word, declaration);
      queue.push(declaration);
    }
  }
  return [...seen.values()].slice(exported.length).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function section(title: string, declarations: readonly Declaration[]): string {
  const code = declarations.map(({ text }) => text).join('\n\n');
  return `## ${title}\n\n${declarations.length} names.\n\n\`\`\`ts\n${code}\n\`\`\`\n`;
}

/** The public API of a built package: each name of each entry point with its declaration, and the unexported names in these. */
export function apiReport(packageFolder: string): string {
  const packageJson: { name: string; exports: Record<string, { types?: string }> } = JSON.parse(
    readFileSync(join(packageFolder, 'package.json'), 'utf8'),
  );
  const cache = new Map<string, Declarations>();
  const read = (file: string): Declarations => {
    const known = cache.get(file) ?? readDeclarations(join(packageFolder, 'dist'), file);
    cache.set(file, known);
    return known;
  };
  const entryPoints = Object.entries(packageJson.exports).flatMap(([entryPoint, { types }]) =>
    types === undefined ? [] : [{ entryPoint, exported: exportsOf(read, types.replace('./dist/', '')) }],
  );
  return [
    '# API report\n',
    'Every public name of each entry point and its declaration, from the built package, and the sizes. `npm run api-report`',
    'writes this page, and a test fails when it is out of date: review a change of it like code.\n',
    ...entryPoints.map(({ entryPoint, exported }) => section(`\`${posix.join(packageJson.name, entryPoint)}\``, exported)),
    section(
      'Named by these, exported by no entry point',
      unexportedOf(
        read,
        entryPoints.flatMap(({ exported }) => exported),
      ),
    ),
  ].join('\n');
}

if (import.meta.main) {
  writeFileSync(join(root, 'test/package/api-report.md'), `${apiReport(root)}\n${await sizesSection(root)}`);
}
