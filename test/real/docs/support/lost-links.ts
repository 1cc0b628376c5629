/** What a page has to link to, and its links. */
export interface VisitedPage {
  /** From the site's folder: `api/index.html`. */
  readonly path: string;
  readonly ids: readonly string[];
  /** Full addresses. */
  readonly links: readonly string[];
}

/**
 * The links of the site that lead to no page of it, to none of its other files, or to no element of the page. Links to other
 * sites are not followed: what is there is not ours, and the tests run without a network.
 */
export function lostLinks(siteUrl: string, pages: readonly VisitedPage[], files: ReadonlySet<string> = new Set()): string[] {
  const idsOf = new Map(pages.map(({ path, ids }) => [path, new Set(ids)]));
  return pages.flatMap(({ path, links }) =>
    [...new Set(links)].flatMap((link) => {
      if (!link.startsWith(siteUrl))
        return link.startsWith('http') && !/^http:\/\/(?:127|localhost)/.test(link) ? [] : [`${path}: ${link}`];
      const [target = '', anchor = ''] = link.slice(siteUrl.length).split('#').map(decodeURIComponent);
      const ids = idsOf.get(target === '' ? 'index.html' : target);
      const found = ids === undefined ? files.has(target) : anchor === '' || ids.has(anchor);
      return found ? [] : [`${path}: ${link.slice(siteUrl.length)}`];
    }),
  );
}
