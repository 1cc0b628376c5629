import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { root } from '../../structure/source-tree.ts';
import { anchorsOf, type Document, fencesOf, markdownFiles, proseOf } from './support/documents.ts';

const documents = markdownFiles();
const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

function lostLinks(document: Document): string[] {
  const links = [...proseOf(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links
    .filter((link) => !/^(?:https?|mailto):/.test(link))
    .filter((link) => {
      const [target = '', anchor] = link.split('#');
      const path = target === '' ? document.path : posix.join(dirname(document.path), target);
      if (!existsSync(join(root, path))) return true;
      if (anchor === undefined) return false;
      return !path.endsWith('.md') || !anchorsOf({ path, text: readFileSync(join(root, path), 'utf8') }).has(anchor);
    })
    .map((link) => `${document.path}: ${link}`);
}

/** The commands of this repository, in a line of shell, that do not exist. */
function lostCommands(line: string): string[] {
  const named = [...line.matchAll(/\bnpm (?:run |run-script )([\w:-]+)|\bnpm (start|test|cit)\b/g)].map(
    ([, script, own = '']) => script ?? (own === 'cit' ? 'test' : own),
  );
  const files = [...line.matchAll(/(?:\bnode|\bexample|apply -f) ((?:examples|deploy|test|bench|site)\/[\w./-]+)/g)].map(
    ([, file = '']) => file,
  );
  return [...named.filter((script) => scripts[script] === undefined), ...files.filter((file) => !existsSync(join(root, file)))];
}

describe('the Markdown files', () => {
  it('are found', () => {
    expect(documents.map(({ path }) => path)).toEqual(expect.arrayContaining(['README.md', 'docs/errors.md']));
  });

  it.each(documents.map((document) => [document.path, document] as const))('%s has no dead link', (_, document) => {
    expect(lostLinks(document)).toEqual([]);
  });

  it('say the language of each code fence: one that is checked, or plain text', () => {
    // test/real/consumers runs these on the real packages: loggers.test.ts those of one guide, debug-recipes.test.ts those of the other
    const isRun = (place: string, language: string): boolean =>
      language === 'js' && /^docs\/guides\/(?:logs-and-errors|debug)\.md:/.test(place);
    const unknown = documents
      .flatMap(fencesOf)
      .filter(({ language }) => !['ts', 'sh', 'yaml', 'json', 'promql', 'text'].includes(language))
      .filter(({ place, language }) => !isRun(place, language));
    expect(unknown.map(({ place, language }) => `${place}: ${language}`)).toEqual([]);
  });

  it('have JSON and YAML that can be read', () => {
    for (const { place, language, code } of documents.flatMap(fencesOf)) {
      if (language === 'json') expect(() => JSON.parse(code), place).not.toThrow();
      if (language === 'yaml') expect(() => load(code), place).not.toThrow();
    }
  });

  it('name only scripts and files that there are, in shell fences and in `code`', () => {
    const lines = documents.flatMap((document) => [
      ...fencesOf(document)
        .filter(({ language }) => language === 'sh')
        .flatMap(({ place, code }) => code.split('\n').map((line) => ({ place, line }))),
      ...[...document.text.matchAll(/`((?:npm|node) [^`\n]*)`/g)].map(([, line = '']) => ({ place: document.path, line })),
    ]);
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.flatMap(({ place, line }) => lostCommands(line).map((lost) => `${place}: ${lost}`))).toEqual([]);
  });
});

describe('the checks of Markdown', () => {
  it('find dead links, and no others', () => {
    const text = '# A b\n\n[a](b.md) [c](#a-b) [d](#no) [e](errors.md#err_api) [f](errors.md#no) `[g](h)` [i](https://x.y/z)\n';
    expect(
      lostLinks({ path: 'docs/test.md', text: text.replace('(#a-b)', '(errors.md)').replace('(#no)', '(../README.md#no)') }),
    ).toEqual(['docs/test.md: b.md', 'docs/test.md: ../README.md#no', 'docs/test.md: errors.md#no']);
  });

  it('find commands that do not exist', () => {
    expect(lostCommands('npm ci && npm run nonsense && npm test && node examples/none.ts')).toEqual([
      'nonsense',
      'examples/none.ts',
    ]);
  });
});
