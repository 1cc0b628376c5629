import { readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root } from './source-tree.ts';

const notOurs = new Set(['node_modules', 'dist', '.git', '.stryker-tmp', '.built']);

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (notOurs.has(entry.name)) return [];
    const path = posix.join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

const files = filesBelow('');

/** The files of the repository that a name stands for: `retry.ts` and `sync/retry.ts` for `src/status/sync/retry.ts`. */
function placesOf(name: string): readonly string[] {
  return files.filter((path) => path === name || path.endsWith(`/${name}`));
}

/** The TypeScript files that a document names: by a name in backticks, or by a whole path. */
export function namesIn(markdown: string): string[] {
  const inBackticks = [...markdown.matchAll(/`([\w./-]+\.ts)`/g)];
  const paths = [...markdown.matchAll(/(?<![\w./`-])((?:src|test|bench|examples|tools)\/[\w./-]+\.ts)\b/g)];
  return [...inBackticks, ...paths].map(([, name = '']) => name);
}

/** The names that stand for no file, or for several. */
export function unclearNames(markdown: string): string[] {
  return namesIn(markdown).filter((name) => placesOf(name).length !== 1);
}

/** The documents of the repository, but for the changelog, which speaks of the past. */
export function documents(): string[] {
  const isPart = (path: string): boolean => /^(?:docs\/|src\/\w+\/README\.md$|examples\/|[A-Z]+\.md$)/.test(path);
  return files.filter((path) => path.endsWith('.md') && isPart(path) && path !== 'CHANGELOG.md');
}
