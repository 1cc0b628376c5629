import { doors } from '../../structure/rooms.ts';
import type { ParsedPage } from './parsed-pages.ts';

export interface PageGroup {
  readonly group: string;
  readonly paths: readonly string[];
  /** Those that are so much like another page of the group that axe reads the other alone. */
  readonly alike: ReadonlySet<string>;
}

/**
 * The pages that a browser opens, in groups: every document, guide, decision and example. Of the reference, whose pages a
 * program makes with a few templates: the page of each door, and from each door the longest page of each kind (class,
 * function, interface, ...).
 *
 * Examples are source files on pages with nothing else: axe, which takes seconds for thousands of coloured words, reads the
 * longest page of each folder and those that are not source files.
 */
export function pagesForBrowser(pages: readonly ParsedPage[]): PageGroup[] {
  const written = pages.map(({ path }) => path).filter((path) => !path.startsWith('api/'));
  const folders = [...new Set(written.map(folderOf))];
  return [
    ...folders.map((group) => ({ group, paths: written.filter((path) => folderOf(path) === group), alike: alikeOf(pages) })),
    { group: 'reference', paths: sampleOf(pages.filter(({ path }) => path.startsWith('api/'))), alike: new Set<string>() },
  ];
}

/** Pages at the top, and folders with few of them, are one group. */
function folderOf(path: string): string {
  const [folder = ''] = path.split('/');
  return ['guides', 'decisions', 'examples'].includes(folder) ? folder : 'documents';
}

function alikeOf(pages: readonly ParsedPage[]): Set<string> {
  const sources = pages.filter(({ path }) => /^examples\/.*-ts\.html$/.test(path)).sort((a, b) => b.length - a.length);
  const seen = new Set<string>();
  const others = sources.filter(({ path }) => {
    const folder = path.slice(0, path.lastIndexOf('/'));
    return seen.has(folder) || !seen.add(folder);
  });
  return new Set(others.map(({ path }) => path));
}

function sampleOf(reference: readonly ParsedPage[]): string[] {
  const ofDoors = doors.map((door) => `api/${door}.html`);
  const longest = new Map<string, ParsedPage>();
  for (const page of reference.filter(({ path }) => !ofDoors.includes(path))) {
    const folder = page.path.slice(0, page.path.lastIndexOf('/'));
    const [kind = ''] = page.title.split(' ');
    const before = longest.get(`${folder} ${kind}`);
    if (before === undefined || before.length < page.length) longest.set(`${folder} ${kind}`, page);
  }
  return [...ofDoors, ...[...longest.values()].map(({ path }) => path)];
}
