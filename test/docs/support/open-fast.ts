import type { Page } from 'playwright-core';
import { inject } from 'vitest';
import { launchChromium } from '../../browser/support/launch-chromium.ts';
import { sizes } from '../../browser/support/open-page.ts';

export interface FastPage {
  readonly page: Page;
  /** Errors and warnings on the console, and exceptions that nothing caught. */
  readonly problems: readonly string[];
  /** Addresses outside the site that a page asked for. None of them was reached. */
  readonly foreignRequests: readonly string[];
  close(): Promise<void>;
}

/**
 * A page for hundreds of addresses: the browser may keep what it has read, and no request takes the way through this process.
 * It is the browser that knows no other host than 127.0.0.1.
 */
export async function openFast(siteUrl: string): Promise<FastPage> {
  const browser = await launchChromium(inject('chromiumPath'), ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1']);
  const page = await browser.newPage({ viewport: sizes.phone });
  const problems: string[] = [];
  const foreignRequests: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(siteUrl) && !request.url().startsWith('data:')) foreignRequests.push(request.url());
  });
  return { page, problems, foreignRequests, close: () => browser.close() };
}
