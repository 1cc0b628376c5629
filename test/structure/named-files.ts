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
export function placesOf(name: string): readonly string[] {
  return files.filter((path) => path === name || path.endsWith(`/${name}`));
}

/** The names of TypeScript files that a document has in backticks. */
export function namesIn(markdown: string): string[] {
  return [...markdown.matchAll(/`([\w./-]+\.ts)`/g)].map(([, name = '']) => name);
}
