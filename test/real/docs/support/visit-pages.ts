import type { Browser, Page } from 'playwright-core';
import { type SizeName, sizes, type Theme } from '../../browser/support/open-page.ts';

/** What the browser is told of the network: there is no host but this machine. */
export const noOtherHost = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1';

export interface Visits {
  /** Errors and warnings on the console, exceptions that nothing caught, and answers other than 200. */
  readonly problems: readonly string[];
  /** Addresses outside the site that a page asked for. None of them was reached. */
  readonly foreignRequests: readonly string[];
}

export interface VisitOptions {
  readonly siteUrl: string;
  readonly paths: readonly string[];
  readonly size: SizeName;
  readonly theme: Theme;
  /** What to do on each page when it has loaded and can be seen. */
  look(page: Page, path: string): Promise<void>;
}

/** Opens pages one after the other in a few tabs at once, which share what the browser has read. */
export async function visitPages(browser: Browser, options: VisitOptions): Promise<Visits> {
  const { siteUrl, paths, size, theme, look } = options;
  const context = await browser.newContext({ viewport: sizes[size], colorScheme: theme, hasTouch: size === 'phone' });
  const problems: string[] = [];
  const foreignRequests: string[] = [];
  const waiting = [...paths];
  const work = async (): Promise<void> => {
    const page = await context.newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(`${page.url()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
    page.on('request', (request) => {
      if (!request.url().startsWith(siteUrl) && !request.url().startsWith('data:')) foreignRequests.push(request.url());
    });
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      const answer = await page.goto(siteUrl + path);
      if (answer?.status() !== 200) problems.push(`${path}: ${answer?.status()}`);
      // TypeDoc's pages are hidden until a timer of theirs has run: without this nothing would ever be too wide
      await page.waitForFunction("getComputedStyle(document.body).display !== 'none'");
      await look(page, path);
    }
  };
  try {
    await Promise.all(Array.from({ length: 3 }, work));
  } finally {
    await context.close();
  }
  return { problems, foreignRequests };
}
