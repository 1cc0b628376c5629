import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from '../browser/support/find-violations.ts';
import { overflowOf } from '../browser/support/open-page.ts';
import { sharedBrowser } from '../browser/support/shared-browser.ts';
import { pagesOfSite } from './support/built-site.ts';
import { lostLinks, type VisitedPage } from './support/lost-links.ts';
import { openFast } from './support/open-fast.ts';
import { type ServedSite, serveSite } from './support/serve-site.ts';

const pages = pagesOfSite();
const open = sharedBrowser();
let site: ServedSite;

beforeAll(async () => {
  site = await serveSite();
});
afterAll(() => site?.close());

/** The pages that are looked at more closely: the documents, and one page of each sort of those that are much alike. */
const alike = /^(?:api|decisions|examples)\//;
const samples = ['api/index.html', 'api/reflector/ObjectStore.html', 'api/StatusManagerOptions.html', 'api/ErrorClass.html'];
const documents = [...pages.filter((path) => !alike.test(path)), ...samples, 'examples/README.html', 'examples/minimal-ts.html'];

describe('the site, every page of it opened on a phone', () => {
  const visited: VisitedPage[] = [];
  const tooWide: string[] = [];

  it('asks nobody else for anything, and has nothing to complain of', async () => {
    const { page, problems, foreignRequests, close } = await openFast(site.url);
    for (const path of pages) {
      const answer = await page.goto(site.url + path);
      expect(answer?.status(), path).toBe(200);
      const { ids, links } = await page.evaluate<Omit<VisitedPage, 'path'>>(
        `({ ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
            links: [...document.querySelectorAll('a[href], img[src]')].map((element) => element.href ?? element.src) })`,
      );
      visited.push({ path, ids, links });
      if ((await overflowOf(page)) > 0) tooWide.push(path);
    }
    await close();
    expect(problems).toEqual([]);
    expect(foreignRequests).toEqual([]);
    expect(visited.length).toBe(pages.length);
  });

  it('has no link to a page or a place that is not there', () => {
    expect(visited.flatMap(({ links }) => links).length).toBeGreaterThan(pages.length);
    expect(lostLinks(site.url, visited)).toEqual([]);
  });

  it('scrolls sideways nowhere', () => {
    expect(tooWide).toEqual([]);
  });
});

describe('axe', () => {
  it.each([
    ['light', 'desktop'],
    ['dark', 'phone'],
  ] as const)('finds nothing serious in the %s theme on a %s', async (theme, size) => {
    const { page } = await open({ url: site.url, size, theme });
    const found: string[] = [];
    for (const path of documents) {
      await page.goto(site.url + path);
      found.push(...(await findViolations(page)).map((violation) => `${path}: ${violation}`));
    }
    expect(found).toEqual([]);
  });
});

it('searches without a network', async () => {
  const { page, problems } = await open({ url: `${site.url}api/reflector/Reflector.html` });
  await page.keyboard.press('/');
  await page.keyboard.type('setPodStatus');
  const hit = page.locator('#tsd-search-results a', { hasText: 'setPodStatus' }).first();
  await hit.click();
  expect(page.url()).toContain(`${site.url}api/StatusManager.html#setpodstatus`);
  expect(problems).toEqual([]);
});
