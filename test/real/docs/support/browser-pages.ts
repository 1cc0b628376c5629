import { entryPoints } from '../../../structure/rooms.ts';
import type { ParsedPage } from './parsed-pages.ts';

export interface PageGroup {
  readonly group: string;
  readonly paths: readonly string[];
  /** Those that axe does not read: they are made like another page of the group, which it reads. */
  readonly alike: ReadonlySet<string>;
}

/**
 * The pages that a browser opens, in groups: every document, guide, decision and example. Of the reference, whose pages a
 * program makes with a few templates: the page of each entry point, and from each the longest page of each kind (class, function,
 * interface, ...); and the ten with the longest names, which is what makes a page wider than a phone.
 *
 * axe takes seconds for a page. It reads all of these but two sorts: of the examples' source files, the longest of each folder;
 * of the reference, the pages of the entry points and the longest of each kind.
 */
export function pagesForBrowser(pages: readonly ParsedPage[]): PageGroup[] {
  const written = pages.filter(({ path }) => !path.startsWith('api/'));
  const groups = [...Map.groupBy(written, ({ path }) => groupOf(path))];
  const sources = written.filter(({ path }) => /^examples\/.*-ts\.html$/.test(path));
  const alike = without(sources, longestOfEach(sources, folderOf));
  return [...groups.map(([group, list]) => ({ group, paths: pathsOf(list), alike })), reference(pages)];
}

function reference(pages: readonly ParsedPage[]): PageGroup {
  const ofEntryPoints = entryPoints.map((name) => `api/${name}.html`);
  const others = pages.filter(({ path }) => path.startsWith('api/') && !ofEntryPoints.includes(path));
  const byName = others.toSorted((a, b) => b.title.length - a.title.length).slice(0, 10);
  const sample = [...new Set([...longestOfEach(others, (page) => `${folderOf(page)} ${kindOf(page)}`), ...byName])];
  const alike = without(sample, longestOfEach(sample, kindOf));
  return { group: 'reference', paths: [...ofEntryPoints, ...pathsOf(sample)], alike };
}

/** The documents that are in no large folder are one group. */
function groupOf(path: string): string {
  const [folder = ''] = path.split('/');
  return ['guides', 'decisions', 'examples'].includes(folder) ? folder : 'documents';
}

function longestOfEach(pages: readonly ParsedPage[], sortOf: (page: ParsedPage) => string): ParsedPage[] {
  return [...Map.groupBy(pages, sortOf).values()].map((list) => list.reduce((a, b) => (b.length > a.length ? b : a)));
}

function without(pages: readonly ParsedPage[], others: readonly ParsedPage[]): Set<string> {
  return new Set(pathsOf(pages.filter((page) => !others.includes(page))));
}

const folderOf = ({ path }: ParsedPage): string => path.slice(0, path.lastIndexOf('/'));
/** `Class` of `Class Reflector`. */
const kindOf = ({ title }: ParsedPage): string => title.split(' ')[0] ?? '';
const pathsOf = (pages: readonly ParsedPage[]): string[] => pages.map(({ path }) => path);
