import type { Locator, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { DebugPodRow } from '../../../../src/observe/debug/debug-api.ts';
import type { OpenedPage, OpenPageOptions } from '../support/open-page.ts';
import { FakeDebugServer } from './fake-debug-server.ts';

export type Open = (options: OpenPageOptions) => Promise<OpenedPage>;

export interface DebugPageOptions extends Partial<Omit<OpenPageOptions, 'url'>> {
  /** What follows `#` in the address. */
  readonly view?: string;
  /** True: the test makes the browser complain, of a lost server or of markup that it blocks. */
  readonly hasProblems?: boolean;
  /** Called before the page is opened. */
  readonly prepare?: (server: FakeDebugServer) => void;
}

export interface DebugPage {
  readonly server: FakeDebugServer;
  readonly page: Page;
  /** The rows of the table that are drawn, without its head. */
  readonly rows: Locator;
  readonly table: Locator;
  readonly filter: Locator;
  readonly panel: Locator;
  readonly connection: Locator;
  readonly problems: readonly string[];
}

/** The page with these pods, live. At the end of the test nothing may have left its origin, and the browser has no complaint. */
export async function openDebugPage(
  open: Open,
  pods: readonly DebugPodRow[],
  options: DebugPageOptions = {},
): Promise<DebugPage> {
  const { view = '', hasProblems = false, prepare, ...looks } = options;
  const server = await FakeDebugServer.start(pods);
  onTestFinished(() => server.close());
  prepare?.(server);
  const { page, problems, foreignRequests } = await open({ ...looks, url: `${server.url}${view === '' ? '' : `#${view}`}` });
  onTestFinished(() => {
    expect(foreignRequests).toEqual([]);
    if (!hasProblems) expect(problems).toEqual([]);
  });
  const connection = page.locator('#connection');
  await expect.poll(() => connection.textContent()).toBe('Live');
  return {
    server,
    page,
    rows: page.locator('#pods [role=row][id]'),
    table: page.getByRole('grid', { name: 'Pods' }),
    filter: page.getByRole('searchbox'),
    panel: page.locator('.pod-panel'),
    connection,
    problems,
  };
}

/** The names of the pods in the rows that are drawn, from top to bottom. */
export async function drawnNames({ rows }: Pick<DebugPage, 'rows'>): Promise<string[]> {
  const drawn = await Promise.all(
    (await rows.all()).map(async (row) => ({
      index: Number(await row.getAttribute('aria-rowindex')),
      name: (await row.locator('.pod-name').textContent()) ?? '',
    })),
  );
  return drawn.sort((a, b) => a.index - b.index).map(({ name }) => name);
}

/** The id or the name of what has the focus. */
export function focused(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.id || document.activeElement.tagName');
}
