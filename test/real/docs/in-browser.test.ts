import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { entryPoints } from '../../structure/rooms.ts';
import type { LocalServer } from '../../support/serve-locally.ts';
import { findViolations } from '../browser/support/find-violations.ts';
import { launchChromium } from '../browser/support/launch-chromium.ts';
import { overflowOf } from '../browser/support/open-page.ts';
import { pagesForBrowser } from './support/browser-pages.ts';
import { pagesOfSite } from './support/built-site.ts';
import { lostLinks, type VisitedPage } from './support/lost-links.ts';
import { parsedPages } from './support/parsed-pages.ts';
import { serveSite } from './support/serve-site.ts';
import { noOtherHost, visitPages } from './support/visit-pages.ts';

const parsed = parsedPages('http://127.0.0.1:1/');
const groups = pagesForBrowser(parsed);
const inMenu = '.tsd-navigation a[href]';
let site: LocalServer;
let browser: Browser;

beforeAll(async () => {
  site = await serveSite();
  browser = await launchChromium(inject('chromiumPath'), [noOtherHost]);
});
afterAll(async () => {
  await browser?.close();
  await site?.[Symbol.asyncDispose]();
});

it('every written page is opened, and a sample of the reference; test/real/docs/links.test.ts reads all pages', () => {
  const opened = new Set(groups.flatMap(({ paths }) => paths));
  const others = pagesOfSite().filter((path) => !opened.has(path));
  expect(others.filter((path) => !path.startsWith('api/'))).toEqual([]);
  expect([...opened]).toEqual(expect.arrayContaining([...entryPoints.map((name) => `api/${name}.html`), 'index.html']));
});

describe.each(groups)('the pages of $group', ({ paths, alike }) => {
  it.each([
    ['light', 'desktop'],
    ['dark', 'phone'],
  ] as const)('in the %s theme on a %s: axe finds nothing serious, nothing scrolls sideways, no other site is asked', async (theme, size) => {
    const found: string[] = [];
    const { problems, foreignRequests } = await visitPages(browser, {
      siteUrl: site.url,
      paths,
      size,
      theme,
      async look(page, path) {
        const overflow = await overflowOf(page);
        if (overflow > 0) found.push(`${path}: ${overflow} px too wide`);
        if (alike.has(path)) return;
        // the menu is most of a page, and the same on each
        const except = path === paths[0] ? undefined : '.site-menu';
        found.push(...(await findViolations(page, { except })).map((violation) => `${path}: ${violation}`));
      },
    });
    expect({ found, problems, foreignRequests }).toEqual({ found: [], problems: [], foreignRequests: [] });
  });
});

describe('what scripts add', () => {
  it('is a table of contents whose links lead to pages', async () => {
    const pages: VisitedPage[] = parsed.map(({ path, ids }) => ({ path, ids, links: [] }));
    await visitPages(browser, {
      siteUrl: site.url,
      paths: ['index.html', 'api/reflector/Reflector.html'],
      size: 'desktop',
      theme: 'light',
      async look(page, path) {
        const entries = page.locator(inMenu);
        await entries.nth(20).waitFor({ state: 'attached' });
        const links = await page.evaluate<string[]>(
          `[...document.querySelectorAll(${JSON.stringify(inMenu)})].map(({ href }) => href)`,
        );
        pages.push({ path: `${path} with scripts`, ids: [], links });
      },
    });
    expect(lostLinks(site.url, pages)).toEqual([]);
  });

  it('is a search that needs no network', async () => {
    const page = await browser.newPage();
    await page.goto(`${site.url}api/reflector/Reflector.html`);
    // A page shows nothing before its scripts have run, and nothing of it can have the focus.
    await page.locator('#tsd-search-trigger').waitFor();
    await page.keyboard.press('/');
    // Until the index is ready the page says so, and finds nothing for what is typed.
    await page.locator('#tsd-search-status:empty').waitFor({ state: 'attached' });
    await page.keyboard.type('setPodStatus');
    await page.locator('#tsd-search-results a', { hasText: 'setPodStatus' }).first().click();
    await page.waitForURL((url) => url.href.startsWith(`${site.url}api/StatusManager.html#setpodstatus`));
    expect(page.url()).toContain('#setpodstatus');
    await page.context().close();
  });

  it.each([
    ['kubectl logs', 'guides/node-agent.html'],
    ['stuck', 'guides/embed-the-status-manager.html'],
    ['403', 'guides/rights.html'],
  ])('is a search that shows a page about %j, as test/real/docs/search.test.ts says', async (text, path) => {
    const page = await browser.newPage();
    await page.goto(`${site.url}index.html`);
    await page.locator('#tsd-search-trigger').click();
    await page.locator('#tsd-search-status:empty').waitFor({ state: 'attached' });
    await page.keyboard.type(text);
    await page.locator(`#tsd-search-results a[href$="${path}"]`).click();
    await page.waitForURL(`${site.url}${path}`);
    await page.context().close();
  });
});
