import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { home, type Section, sections } from './contents.ts';
import { filePage, titleOf, withLinks, withPlainFences, withReferences } from './markdown.ts';

/** A document of the site. */
export interface Page {
  /** The path of the Markdown file, from the staging folder. */
  readonly path: string;
  readonly title: string;
  readonly children: readonly Page[];
}

export interface StagedSection {
  readonly title: string;
  readonly pages: readonly Page[];
  readonly entryPointsBefore?: boolean;
}

export interface Staged {
  readonly home: Page;
  readonly sections: readonly StagedSection[];
  /** Every page. Those in no section are files that a document links to. */
  readonly pages: readonly Page[];
  readonly problems: readonly string[];
}

const pictures = /\.(?:svg|png)$/;

/**
 * Copies the repository's documents to a folder for TypeDoc, where each has the same path. A link to a file that is no
 * document gets a page that shows the file, and a link to a folder gets a page that lists it.
 */
class Stage {
  readonly root: string;
  readonly folder: string;
  readonly pages = new Map<string, Page>();
  readonly problems: string[] = [];

  constructor(root: string, folder: string) {
    this.root = root;
    this.folder = folder;
  }

  /** The page of a document or of a folder. */
  page(path: string): Page {
    return statSync(join(this.root, path)).isDirectory() ? this.#folderPage(path) : this.#document(path);
  }

  #document(path: string): Page {
    const text = readFileSync(join(this.root, path), 'utf8');
    return this.#write(path, path, text, []);
  }

  #write(source: string, path: string, text: string, children: readonly Page[]): Page {
    const known = this.pages.get(source);
    if (known !== undefined) return known;
    const page = { path, title: titleOf(text, path), children };
    this.pages.set(source, page);
    const target = join(this.folder, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, withReferences(withPlainFences(withLinks(text, (link) => this.#link(path, link)))));
    return page;
  }

  #folderPage(path: string): Page {
    const names = readdirSync(join(this.root, path), { recursive: true, encoding: 'utf8' }).sort();
    const children = names
      .filter((name) => /\.(?:md|ts)$/.test(name) && name !== 'README.md' && !/^virtual-node\//.test(name))
      .map((name) => (name.endsWith('.md') ? this.#document(`${path}/${name}`) : this.#file(`${path}/${name}`)));
    const readme = join(this.root, path, 'README.md');
    const title = `${path.split('/').pop()}`.replace(/^./, (letter) => letter.toUpperCase());
    const list = children
      .map((page) => `- [${page.title}](${posix.relative(path, page.path.replace(/\.ts\.md$/, '.ts'))})`)
      .join('\n');
    const text = existsSync(readme) ? readFileSync(readme, 'utf8') : `# ${title}\n\n${list}\n`;
    return this.#write(path, `${path}/README.md`, text, children);
  }

  /** The page that shows a file. */
  #file(path: string): Page {
    return this.#write(path, `${path}.md`, filePage(path, readFileSync(join(this.root, path), 'utf8')), []);
  }

  /** Where a link of the document at `from` leads on the site. */
  #link(from: string, link: string): string {
    const [target = '', anchor] = link.split('#');
    const full = posix.join(posix.dirname(from), target);
    // a floor of src and the tests have a page for their README, and none for their files
    const path = /^(?:src|test)\//.test(full) ? full : full.replace(/\/(?:README\.md)?$/, '');
    if (!existsSync(join(this.root, path))) {
      this.problems.push(`${from} links to ${link}, which is not there`);
      return link;
    }
    const page = this.pages.get(path) ?? this.#linkedFile(path);
    const place = posix.relative(posix.dirname(from), page?.path ?? path);
    return anchor === undefined ? place : `${place}#${anchor}`;
  }

  #linkedFile(path: string): Page | undefined {
    if (pictures.test(path)) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      copyFileSync(join(this.root, path), join(this.folder, path));
      return undefined;
    }
    return path.endsWith('.md') || statSync(join(this.root, path)).isDirectory() ? this.page(path) : this.#file(path);
  }
}

/** The documents below docs that no section names. The README of a folder is the page of the folder. */
function forgotten(root: string, known: ReadonlyMap<string, Page>): string[] {
  return readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => `docs/${name}`)
    .filter((path) => path.endsWith('.md') && !known.has(path.replace(/\/README\.md$/, '')))
    .map((path) => `${path} is in no section of tools/site/contents.ts`);
}

export function stage(root: string, folder: string): Staged {
  rmSync(folder, { recursive: true, force: true });
  const work = new Stage(root, folder);
  const exists = (path: string): boolean => {
    if (existsSync(join(root, path))) return true;
    work.problems.push(`tools/site/contents.ts names ${path}, which is not there`);
    return false;
  };
  const staged = sections.map((section: Section) => ({ ...section, documents: section.documents.filter(exists) }));
  const first = exists(home) ? work.page(home) : work.page('README.md');
  const pages = staged.map(({ documents, ...section }) => ({ ...section, pages: documents.map((path) => work.page(path)) }));
  work.problems.push(...forgotten(root, work.pages));
  return { home: first, sections: pages, pages: [...work.pages.values()], problems: work.problems };
}
