import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTree } from '../structure/source-tree.ts';

export interface CodeFence {
  /** `README.md:12`, the line of the first line of code. */
  readonly name: string;
  /** `README.md` */
  readonly document: string;
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

/** What a `with-server` fence gets before and after its code. The site shows it in the example. */
export const serverAround = {
  before: [
    "import { InMemoryApiServer } from 'pod-status-manager/testing';",
    'const server = await InMemoryApiServer.start();',
    'const kubeConfig = server.kubeConfig();',
  ],
  after: ['await server.stop();'],
} as const;

const knownWords = ['', 'no-run', 'continued', 'with-server'];

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
 * fence is only type-checked; a `continued` fence gets the code of the fence before it first; a `with-server` fence, one that
 * uses `server` or `kubeConfig`, gets an apiserver in memory.
 */
export function codeFencesOf(document: string, markdown: string): CodeFence[] {
  const fences: CodeFence[] = [];
  let soFar = '';
  let withServer = false;
  for (const { line, words, code } of blocksOf(markdown)) {
    const unknown = words.filter((word) => !knownWords.includes(word));
    if (unknown.length > 0)
      throw new Error(`${document}:${line - 1}: a ts fence says \`${unknown.join(' ')}\`; known are${knownWords.join(' ')}`);
    if (!words.includes('continued')) {
      withServer = words.includes('with-server');
      soFar = withServer ? serverAround.before.join(' ') : '';
    }
    const padding = line - 1 - (soFar.split('\n').length - 1);
    soFar += '\n'.repeat(padding) + code;
    fences.push({
      name: `${document}:${line}`,
      document,
      fileName: `${document.replace(/\.md$/, '').replace(/\W+/g, '-')}-${line}.ts`,
      code: withServer ? soFar + serverAround.after.map((text) => `${text}\n`).join('') : soFar,
      runs: !words.includes('no-run'),
    });
  }
  return fences;
}

/** The doc comments of a source file as Markdown, on the lines where they are. */
export function commentsOf(source: string): string {
  const lines: string[] = [];
  let inside = false;
  for (const line of source.split('\n')) {
    inside ||= /^\s*\/\*\*/.test(line);
    lines.push(inside ? line.replace(/^\s*(?:\/\*\*|\*(?!\/)) ?/, '').replace(/\s*\*\/\s*$/, '') : '');
    if (/\*\//.test(line)) inside = false;
  }
  return lines.join('\n');
}

/** The Markdown files whose code a reader may copy: README.md, examples/README.md, and all below docs. */
function documentsWithCode(root: string): string[] {
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

/** The fences in the doc comments of src. */
export function readCommentFences(): CodeFence[] {
  return readTree('src').flatMap(({ path, text }) => codeFencesOf(path, commentsOf(text)));
}
