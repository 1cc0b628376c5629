import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import { launchChromium } from './launch-chromium.ts';
import { type OpenedPage, type OpenPageOptions, openPage } from './open-page.ts';

/**
 * One Chromium for the tests of a file, from before the first to after the last. Gives a function that opens a URL; what it
 * opens is closed at the end of the test.
 */
export function sharedBrowser(): (options: OpenPageOptions) => Promise<OpenedPage> {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launchChromium(inject('chromiumPath'));
  });
  afterAll(() => browser?.close());
  return async (options) => {
    if (browser === undefined) throw new Error('The browser is there in tests only');
    const opened = await openPage(browser, options);
    onTestFinished(() => opened[Symbol.asyncDispose]());
    return opened;
  };
}
