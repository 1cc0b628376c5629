import { expect, it, onTestFinished } from 'vitest';
import { serveLocally } from '../../support/serve-locally.ts';
import { findViolations } from './support/find-violations.ts';
import { overflowOf } from './support/open-page.ts';
import { sharedBrowser } from './support/shared-browser.ts';

const open = sharedBrowser();

/** Serves one page on loopback for as long as the test runs. */
async function serve(body: string): Promise<string> {
  const html = `<!doctype html><html lang="en"><title>t</title><link rel="icon" href="data:,"><main><h1>t</h1>${body}</main>`;
  const server = await serveLocally((_, response) => response.setHeader('content-type', 'text/html').end(html));
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server.url;
}

it('finds nothing in a page that is in order', async () => {
  const { page, problems, foreignRequests } = await open({ url: await serve('<p>all is well</p>'), size: 'phone' });
  expect(await findViolations(page)).toEqual([]);
  expect(await overflowOf(page)).toBe(0);
  expect([problems, foreignRequests]).toEqual([[], []]);
});

it('blocks and names what leaves the origin, also another port of this machine', async () => {
  const url = await serve('<img alt="" src="http://127.0.0.1:9/a.png"><img alt="" src="https://example.invalid/b.png">');
  const { page, foreignRequests } = await open({ url });
  await page.waitForLoadState('load');
  expect(foreignRequests).toEqual(['http://127.0.0.1:9/a.png', 'https://example.invalid/b.png']);
});

it('tells of exceptions and of what is written to the console', async () => {
  const { problems } = await open({ url: await serve('<script>console.warn("w"); console.error("e"); missing()</script>') });
  expect(problems).toEqual(['warning: w', 'error: e', 'exception: missing is not defined']);
});

it('finds unlabelled controls, faint text and a page that is too wide', async () => {
  const url = await serve('<button></button><p style="color:#ccc;background:#fff">faint</p><div style="width:900px">wide</div>');
  const { page } = await open({ url, size: 'phone' });
  const violations = await findViolations(page);
  expect(violations.map((line) => line.split(':')[0])).toEqual(['button-name', 'color-contrast']);
  expect(await overflowOf(page)).toBeGreaterThan(500);
});

it('shows a page in the theme and the size that it is asked for', async () => {
  const { page } = await open({ url: await serve(''), size: 'tablet', theme: 'dark' });
  expect(await page.evaluate('[innerWidth, innerHeight, matchMedia("(prefers-color-scheme: dark)").matches]')).toEqual([
    820,
    1180,
    true,
  ]);
});
