import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface CodeFence {
  /** `README.md:12`, the line of the first line of code. */
  readonly name: string;
  /** A file name for the code: `README-12.ts`. */
  readonly fileName: string;
  /** The code with the line numbers of the document, so that a compiler message names the right line. */
  readonly code: string;
  readonly runs: boolean;
}

interface Block {
  readonly line: number;
  readonly words: readonly string[];
  readonly code: string;
}

function blocksOf(markdown: string): Block[] {
  const fences = /^```(ts|typescript)\b([^\n]*)\n([\s\S]*?)^```[ \t]*$/gm;
  return [...markdown.matchAll(fences)].map(({ index, 2: info = '', 3: code = '' }) => ({
    line: markdown.slice(0, index).split('\n').length + 1,
    words: info.trim().split(/\s+/),
    code,
  }));
}

/**
 * Every TypeScript fence of a document. A test runs each by itself, except with one of these words after `ts`: a `no-run`
 * fence is only type-checked; a `continued` fence gets the code of the fence before it first.
 */
export function codeFencesOf(document: string, markdown: string): CodeFence[] {
  const fences: CodeFence[] = [];
  let soFar = '';
  for (const { line, words, code } of blocksOf(markdown)) {
    const unknown = words.filter((word) => !['', 'no-run', 'continued'].includes(word));
    if (unknown.length > 0)
      throw new Error(`${document}:${line - 1}: a ts fence says \`${unknown.join(' ')}\`; no-run and continued are known`);
    if (!words.includes('continued')) soFar = '';
    const padding = line - 1 - (soFar.split('\n').length - 1);
    soFar += '\n'.repeat(padding) + code;
    fences.push({
      name: `${document}:${line}`,
      fileName: `${document.replace(/\.md$/, '').replace(/\W+/g, '-')}-${line}.ts`,
      code: soFar,
      runs: !words.includes('no-run'),
    });
  }
  return fences;
}

/** The Markdown files whose code a reader may copy: README.md, examples/README.md, and all below docs. */
export function documentsWithCode(root: string): string[] {
  const below = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  return [
    'README.md',
    'CONTRIBUTING.md',
    'examples/README.md',
    ...below.map((path) => `docs/${path.replaceAll('\\', '/')}`).sort(),
  ]
    .filter((path) => path.endsWith('.md'))
    .filter((path) => existsSync(join(root, path)));
}

/** The fences of `documentsWithCode`. */
export function readCodeFences(root: string): CodeFence[] {
  return documentsWithCode(root).flatMap((document) => codeFencesOf(document, readFileSync(join(root, document), 'utf8')));
}
