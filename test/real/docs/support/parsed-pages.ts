import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { pagesOfSite, siteFolder } from './built-site.ts';
import type { VisitedPage } from './lost-links.ts';

type Node = DefaultTreeAdapterMap['node'];

/** What the file of a page says, before any script has run. */
export interface ParsedPage extends VisitedPage {
  /** Full addresses of what the page loads: scripts, style sheets, pictures. */
  readonly loads: readonly string[];
  /** The text of the first heading: `Class Reflector`. */
  readonly title: string;
  /** Of the file, in characters. */
  readonly length: number;
}

/** Every page of the site, read as a browser reads HTML. */
export function parsedPages(siteUrl: string): ParsedPage[] {
  return pagesOfSite().map((path) => {
    const text = readFileSync(join(siteFolder, path), 'utf8');
    const ids: string[] = [];
    const links: string[] = [];
    const loads: string[] = [];
    let title: string | undefined;
    const base = new URL(path, siteUrl);
    const visit = (node: Node): void => {
      if ('attrs' in node) {
        const { id, href, src } = Object.fromEntries(node.attrs.map(({ name, value }) => [name, value]));
        if (id !== undefined) ids.push(id);
        if (node.tagName === 'a' && href !== undefined) links.push(new URL(href, base).href);
        if (node.tagName === 'link' && href !== undefined) loads.push(new URL(href, base).href);
        if (src !== undefined) loads.push(new URL(src, base).href);
        if (node.tagName === 'h1') title ??= textOf(node);
      }
      if ('childNodes' in node) for (const child of node.childNodes) visit(child);
    };
    visit(parse(text));
    return { path, ids, links, loads, title: title ?? '', length: text.length };
  });
}

function textOf(node: Node): string {
  if ('value' in node) return node.value;
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
}
