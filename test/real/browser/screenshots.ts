// npm run screenshots
// Takes the pictures of the debug page in docs/images: a real manager of a node in the middle of its work.
import { writeFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { createDebugHandler } from '../../../src/debug.ts';
import { FakeClock } from '../../../src/testing.ts';
import { serveLocally } from '../../support/serve-locally.ts';
import { BusyNode } from './busy-node.ts';
import { SampleFleet } from './debug-page/sample-fleet.ts';
import { launchChromium } from './support/launch-chromium.ts';
import { type OpenPageOptions, openPage } from './support/open-page.ts';
import { requireChromium } from './support/require-chromium.ts';

/** The sharpness of the pictures: so many dots of the picture for one of the page. */
const scale = 1.5;

interface Picture extends Pick<OpenPageOptions, 'size' | 'theme'> {
  readonly name: string;
  /** Which row is opened, from 0. */
  readonly opens?: number;
}

const pictures: readonly Picture[] = [
  { name: 'debug-page-light', size: 'desktop', theme: 'light' },
  { name: 'debug-page-dark', size: 'desktop', theme: 'dark', opens: 3 },
  { name: 'debug-page-phone', size: 'phone', theme: 'light' },
  { name: 'debug-page-phone-dark', size: 'phone', theme: 'dark', opens: 1 },
];

/** Five minutes of a fleet of which one member has died. */
async function fleetPage(): Promise<AsyncDisposable & { readonly url: string }> {
  const fleet = new SampleFleet({ members: 5, shards: 64, nodes: 1_000 });
  fleet.movingShards.add(3);
  const clock = new FakeClock({ start: Date.now() - 300_000 });
  const handler = createDebugHandler({ fleet, clock, logger: null });
  await clock.advance(120_000);
  fleet.kill(2);
  await clock.advance(180_000);
  const server = await serveLocally(handler);
  return {
    url: server.url,
    async [Symbol.asyncDispose]() {
      handler.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function take(page: Page, { name, opens }: Picture): Promise<void> {
  await page.locator('#pods [role=row][id]').first().waitFor();
  if (opens !== undefined) {
    await page.locator('#pods [role=row][id]').nth(opens).click();
    await page.locator('.timeline').waitFor();
  }
  await page.waitForTimeout(500);
  const cdp = await page.context().newCDPSession(page);
  const { data } = await cdp.send('Page.captureScreenshot', { format: 'webp', quality: 85 });
  await writeFile(new URL(`../../../docs/images/${name}.webp`, import.meta.url), Buffer.from(data, 'base64'));
  process.stdout.write(`docs/images/${name}.webp: ${Math.round(data.length * 0.75)} bytes\n`);
}

const browser = await launchChromium(await requireChromium());
try {
  await using node = await BusyNode.start();
  for (const picture of pictures) {
    await using opened = await openPage(browser, { ...picture, url: node.url, scale });
    await take(opened.page, picture);
  }
  await using fleet = await fleetPage();
  const picture: Picture = { name: 'debug-page-fleet', size: 'desktop', theme: 'light' };
  await using opened = await openPage(browser, { ...picture, url: fleet.url, scale });
  await take(opened.page, picture);
} finally {
  await browser.close();
}
