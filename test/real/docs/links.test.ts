import { describe, expect, it } from 'vitest';
import { filesOfSite, pagesOfSite } from './support/built-site.ts';
import { lostLinks } from './support/lost-links.ts';
import { parsedPages } from './support/parsed-pages.ts';

/** Where the files are thought to be; nothing is asked of it. */
const siteUrl = 'http://127.0.0.1:1/';
const pages = parsedPages(siteUrl);
const files = new Set(filesOfSite());

describe('the site, every page of it as the file says', () => {
  it('has no link to a page, a file or a place that is not there', () => {
    expect(pages.map(({ path }) => path)).toEqual(pagesOfSite());
    expect(pages.filter(({ links }) => links.length < 2).map(({ path }) => path)).toEqual([]);
    expect(lostLinks(siteUrl, pages, files)).toEqual([]);
  });

  it('loads nothing from another site, and nothing that is not there', () => {
    const loads = pages.flatMap(({ path, loads }) => [...new Set(loads)].map((address) => ({ path, address })));
    expect(loads.length).toBeGreaterThan(pages.length * 5);
    expect(loads.filter(({ address }) => !address.startsWith(siteUrl) || !files.has(address.slice(siteUrl.length)))).toEqual([]);
  });

  it('has a heading on each page, and no id twice on one', () => {
    expect(pages.filter(({ title }) => title === '').map(({ path }) => path)).toEqual([]);
    const twice = pages.flatMap(({ path, ids }) =>
      ids.filter((id, index) => ids.indexOf(id) < index).map((id) => `${path}#${id}`),
    );
    expect(twice).toEqual([]);
  });

  it('leads from a guide that speaks of the reference to its page', () => {
    const guide = pages.find(({ path }) => path === 'guides/embed-the-status-manager.html');
    expect(guide?.links).toContain(`${siteUrl}api/PodSyncPhase.html`);
  });
});
