import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface ImportOfFile {
  /** The text between the quotes. */
  readonly specifier: string;
  /** True for `import type` and `export type`, which do not exist at run time. */
  readonly typeOnly: boolean;
}

export interface SourceFile {
  /** From the repository's folder, with slashes: `src/status/sync/sync-pod.ts`. */
  readonly path: string;
  readonly text: string;
  /** The text with spaces instead of comments; strings stay. */
  readonly code: string;
  readonly imports: readonly ImportOfFile[];
}

const commentOrString = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;

export function withoutComments(text: string): string {
  return text.replace(commentOrString, (found) => (found.startsWith('/') ? found.replace(/[^\n]/g, ' ') : found));
}

/** The imports and re-exports of a module, also side-effect and dynamic imports. */
export function importsOf(code: string): ImportOfFile[] {
  const statements = /^(?:import|export)(\s+type)?\s(?:[^;'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;
  const dynamic = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;
  return [
    ...[...code.matchAll(statements)].map(([, type, specifier = '']) => ({ specifier, typeOnly: type !== undefined })),
    ...[...code.matchAll(dynamic)].map(([, specifier = '']) => ({ specifier, typeOnly: false })),
  ];
}

function readSourceFile(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  const code = withoutComments(text);
  return { path, text, code, imports: importsOf(code) };
}

/** Every TypeScript file below a folder of the repository, in order. */
export function readTree(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
    .map(readSourceFile);
}

/** The repository path of a relative import; undefined for a package or a built-in. */
export function resolveImport(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}
