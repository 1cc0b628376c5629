import type { Browser, BrowserContext, Page } from 'playwright-core';

/** The sizes at which pages are looked at, in CSS pixels. */
export const sizes = {
  phone: { width: 360, height: 740 },
  tablet: { width: 820, height: 1180 },
  desktop: { width: 1440, height: 900 },
} as const;
export type SizeName = keyof typeof sizes;
export type Theme = 'light' | 'dark';

export interface OpenPageOptions {
  readonly url: string;
  readonly size?: SizeName;
  readonly theme?: Theme;
  /** The URL whose origin can be reached. Default: `url`. */
  readonly reach?: string;
  /** Dots of the screen for one CSS pixel. Default 1. */
  readonly scale?: number;
  /** Runs before the scripts of each page. */
  readonly script?: string;
}

export interface OpenedPage extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings on the console, exceptions that nothing caught, violations of the page's own policy. */
  readonly problems: readonly string[];
  /** URLs outside the page's origin that something asked for. Each such request was blocked. */
  readonly foreignRequests: readonly string[];
}

/** Opens a URL in a context of its own: nothing but the URL's own origin can be reached. Disposing closes the context. */
export async function openPage(browser: Browser, options: OpenPageOptions): Promise<OpenedPage> {
  const { url, size = 'desktop', theme = 'light', reach = url, scale = 1, script = '' } = options;
  const { origin } = new URL(reach);
  const problems: string[] = [];
  const foreignRequests: string[] = [];
  const context = await browser.newContext({
    viewport: sizes[size],
    colorScheme: theme,
    hasTouch: size === 'phone',
    deviceScaleFactor: scale,
  });
  await context.route('**/*', (route) => {
    const wanted = route.request().url();
    if (isWithin(wanted, origin)) return route.continue();
    foreignRequests.push(wanted);
    return route.abort();
  });
  await context.addInitScript(script);
  const page = await context.newPage();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`));
  await page.goto(url);
  return { page, context, problems, foreignRequests, [Symbol.asyncDispose]: () => context.close() };
}

/** `data:` and `blob:` never leave the page. */
function isWithin(wanted: string, origin: string): boolean {
  return wanted.startsWith('data:') || wanted.startsWith('blob:') || new URL(wanted).origin === origin;
}

/** How many CSS pixels the page is wider than its window; 0 when nothing scrolls sideways. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
