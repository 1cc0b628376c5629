import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../structure/source-tree.ts';

export const siteFolder = join(root, 'tools/site/dist');

/** The addresses of all files, from the site's folder. */
export function filesOfSite(): string[] {
  return readdirSync(siteFolder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}

/** The addresses of all pages. */
export function pagesOfSite(): string[] {
  return filesOfSite().filter((path) => path.endsWith('.html'));
}

const readJson = <T>(name: string): T => JSON.parse(readFileSync(join(root, 'tools/site/.pages', name), 'utf8'));

/** What TypeDoc knows of each entry point. */
export function readReference<T>(): T {
  return readJson<T>('reference.json');
}

/** What the build has warned of. */
export function readWarnings(): string[] {
  return readJson('warnings.json');
}
