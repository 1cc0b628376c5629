/** What a browser has found on a page. */
export interface VisitedPage {
  /** From the site's folder: `api/index.html`. */
  readonly path: string;
  readonly ids: readonly string[];
  /** Full addresses. */
  readonly links: readonly string[];
}

/**
 * The links of the site that lead to no page of it, to no file that a page shows, or to no element of the page. Links to
 * other sites are not followed: what is there is not ours, and the tests run without a network.
 */
export function lostLinks(siteUrl: string, pages: readonly VisitedPage[]): string[] {
  const idsOf = new Map(pages.map(({ path, ids }) => [path, new Set(ids)]));
  return pages.flatMap(({ path, links }) =>
    [...new Set(links)].flatMap((link) => {
      if (!link.startsWith(siteUrl))
        return link.startsWith('http') && !/^http:\/\/(?:127|localhost)/.test(link) ? [] : [`${path}: ${link}`];
      const [target = '', anchor] = link.slice(siteUrl.length).split('#');
      if (/^media\//.test(target)) return [];
      const ids = idsOf.get(decodeURIComponent(target === '' ? 'index.html' : target));
      if (ids !== undefined && (anchor === undefined || anchor === '' || ids.has(decodeURIComponent(anchor)))) return [];
      return [`${path}: ${link.slice(siteUrl.length)}`];
    }),
  );
}
