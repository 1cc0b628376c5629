import { describe, expect, it } from 'vitest';
import { sharedBrowser } from '../support/shared-browser.ts';
import { drawnNames, openDebugPage } from './debug-page.ts';
import { podRow, podRows, quietTraffic } from './sample-pods.ts';

const open = sharedBrowser();

describe('the table', () => {
  it('shows 10,000 pods, of which it draws those that can be seen', async () => {
    const shown = await openDebugPage(open, podRows(10_000));
    expect(await shown.table.getAttribute('aria-rowcount')).toBe('10001');
    expect(await shown.rows.count()).toBeLessThan(60);
    await shown.table.evaluate((table) => table.scrollTo(0, table.scrollHeight));
    await expect.poll(async () => (await drawnNames(shown)).at(-1)).toBe('shop/worker-09979');
    expect(await shown.rows.count()).toBeLessThan(60);
    expect(shown.problems).toEqual([]);
  });

  it('says of each pod what is known of it', async () => {
    const row = podRow(1, {
      isStatic: true,
      restarts: 4,
      ready: false,
      sync: 'backing-off',
      attempt: 3,
      version: 9,
      acknowledgedVersion: 7,
      changedAt: Date.now() - 7_200_000,
    });
    const { rows } = await openDebugPage(open, [row]);
    expect(await rows.first().innerText()).toMatch(
      /^shop\/api-00001\s+static\s+Running\s+not ready\s+4\s+backing-off ×3\s+7 → 9\s+2 h$/,
    );
  });

  it('follows what changes, what is new and what goes', async () => {
    const shown = await openDebugPage(open, [podRow(0), podRow(3)]);
    shown.server.change([podRow(3, { sync: 'quarantined' }), podRow(6)], ['uid-00000']);
    await expect.poll(() => drawnNames(shown)).toEqual(['default/search-00006', 'default/worker-00003']);
    expect(await shown.rows.nth(1).innerText()).toContain('quarantined');
    expect(await shown.page.locator('.summary').innerText()).toMatch(/Pods\s+2\s+In sync\s+1/);
  });

  it('sorts by a column, and by the same column the other way round', async () => {
    const shown = await openDebugPage(open, [podRow(0, { restarts: 1 }), podRow(3, { restarts: 5 }), podRow(6, { restarts: 3 })]);
    const head = shown.page.getByRole('columnheader', { name: 'Restarts' });
    await head.getByRole('button').click();
    await expect.poll(() => drawnNames(shown)).toEqual(['default/web-00000', 'default/search-00006', 'default/worker-00003']);
    await head.getByRole('button').click();
    await expect.poll(() => head.getAttribute('aria-sort')).toBe('descending');
    expect(await drawnNames(shown)).toEqual(['default/worker-00003', 'default/search-00006', 'default/web-00000']);
  });

  it('has each title on one line, and the most room for what is wrong', async () => {
    const { page } = await openDebugPage(open, podRows(3));
    const widthOf = async (cell: string): Promise<number> =>
      (await page.locator(`.head .cell-${cell}`).boundingBox())?.width ?? 0;
    for (const title of await page.locator('.head button').all())
      expect((await title.boundingBox())?.height ?? 0).toBeLessThan(34);
    expect(await widthOf('trouble')).toBeGreaterThan((await widthOf('name')) * 1.4);
  });

  it('says so when there is no pod, and when nothing was heard of the server yet', async () => {
    const { page } = await openDebugPage(open, []);
    expect(await page.locator('.empty').textContent()).toBe('There is no pod yet.');
  });
});

describe('the head of the page', () => {
  it('shows the node, what it waits for, and a manager that waits or has stopped', async () => {
    const node = {
      name: 'node-1',
      state: 'running',
      ready: false,
      registered: true,
      notes: [],
      problemCount: 1,
    };
    const prepare = (server: { summary: object }): void => {
      server.summary = { node, ownProblems: { node: 1 }, state: 'draining', pausedUntil: Date.now() + 7_200_000 };
    };
    const { page } = await openDebugPage(open, [podRow(0)], { prepare });
    expect(await page.locator('.top-bar').innerText()).toMatch(/node-1\s+node not ready, 1 problem/);
    expect(await page.locator('.notices').innerText()).toMatch(
      /The status manager is draining\.\s+All requests wait for another 2 h: the apiserver has asked for that, or there are no valid credentials\.$/,
    );
  });

  it('draws delay and requests, and says the newest of both', async () => {
    const prepare = (server: { traffic: object }): void => {
      server.traffic = quietTraffic();
    };
    const { page } = await openDebugPage(open, [podRow(0)], { prepare });
    expect(await page.locator('.charts .now').innerText()).toMatch(/^\d+ requests\/s, p99 1[2-6] ms$/);
    const isDrawn = `[...document.querySelectorAll('.plot canvas')].map((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return data.some((value) => value > 0);
    })`;
    expect(await page.evaluate(isDrawn)).toEqual([true, true]);
  });
});
