import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../structure/source-tree.ts';

export interface Document {
  readonly path: string;
  readonly text: string;
}

/** Every Markdown file of the repository. */
export function markdownFiles(): Document[] {
  const answer = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  });
  const paths = [...new Set(answer.split('\n'))].filter((path) => path !== '').sort();
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

export interface Fence {
  /** `README.md:12`: where it begins. */
  readonly place: string;
  readonly language: string;
  readonly code: string;
}

export function fencesOf({ path, text }: Document): Fence[] {
  return [...text.matchAll(/^```(\w*)[^\n]*\n([\s\S]*?)^```[ \t]*$/gm)].map(({ index, 1: language = '', 2: code = '' }) => ({
    place: `${path}:${text.slice(0, index).split('\n').length}`,
    language,
    code,
  }));
}

/** The text without what is in fences and in `code`. */
export function proseOf({ text }: Document): string {
  return text.replace(/^```[\s\S]*?^```[ \t]*$/gm, '').replace(/`[^`\n]*`/g, 'code');
}

/** The anchors that GitHub gives a document's headings. */
export function anchorsOf({ text }: Document): Set<string> {
  const seen = new Map<string, number>();
  const headings = [...text.replace(/^```[\s\S]*?^```[ \t]*$/gm, '').matchAll(/^#{1,6} (.+)$/gm)];
  return new Set(
    headings.map(([, heading = '']) => {
      const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
      const slug = plain
        .trim()
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
        .replaceAll(' ', '-');
      const times = seen.get(slug) ?? 0;
      seen.set(slug, times + 1);
      return times === 0 ? slug : `${slug}-${times}`;
    }),
  );
}
