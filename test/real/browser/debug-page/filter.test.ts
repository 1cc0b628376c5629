import { describe, expect, it } from 'vitest';
import { sharedBrowser } from '../support/shared-browser.ts';
import { drawnNames, openDebugPage } from './debug-page.ts';
import { podRow, podRows } from './sample-pods.ts';

const open = sharedBrowser();
const pods = [
  podRow(0),
  podRow(1, { sync: 'pending' }),
  podRow(2, { phase: 'Failed' }),
  podRow(3, { sync: 'pending', phase: 'Failed' }),
];

describe('the filter', () => {
  it('shows what has every word of it', async () => {
    const shown = await openDebugPage(open, podRows(1000));
    await shown.filter.fill('web shop');
    await expect.poll(() => shown.page.locator('output').textContent()).toBe('41 of 1,000 pods');
    expect((await drawnNames(shown)).every((name) => name.startsWith('shop/web-'))).toBe(true);
  });

  it('shows the states and phases that are pressed, which count all pods', async () => {
    const shown = await openDebugPage(open, pods);
    const pending = shown.page.getByRole('button', { name: 'pending 2' });
    await pending.click();
    await expect.poll(() => drawnNames(shown)).toEqual(['default/worker-00003', 'shop/api-00001']);
    await shown.page.getByRole('button', { name: 'Failed 2' }).click();
    await expect.poll(() => drawnNames(shown)).toEqual(['default/worker-00003']);
    await pending.click();
    await expect.poll(() => drawnNames(shown)).toEqual(['default/worker-00003', 'monitoring/cache-00002']);
    expect(await pending.getAttribute('aria-pressed')).toBe('false');
  });

  it('keeps a pressed state when no pod is left of it, and can be cleared', async () => {
    const shown = await openDebugPage(open, pods, { view: 'sync=paused' });
    expect(await shown.page.getByRole('button', { name: 'paused 0' }).getAttribute('aria-pressed')).toBe('true');
    await shown.page.getByRole('button', { name: 'Clear the filter' }).click();
    await expect.poll(() => shown.rows.count()).toBe(4);
  });

  it('stays in the address: a reload shows the same', async () => {
    const shown = await openDebugPage(open, pods);
    await shown.filter.fill('api');
    await shown.page.getByRole('button', { name: 'pending' }).click();
    await shown.page.getByRole('columnheader', { name: 'Phase' }).getByRole('button').click();
    await expect.poll(() => shown.page.url()).toContain('#filter=api&sync=pending&sort=phase');
    await shown.page.reload();
    await expect.poll(() => drawnNames(shown)).toEqual(['shop/api-00001']);
    expect(await shown.filter.inputValue()).toBe('api');
  });

  it('follows pods that begin and cease to pass it', async () => {
    const shown = await openDebugPage(open, pods, { view: 'sync=pending' });
    await expect.poll(() => drawnNames(shown)).toEqual(['default/worker-00003', 'shop/api-00001']);
    shown.server.change([podRow(0, { sync: 'pending' }), podRow(1)]);
    await expect.poll(() => drawnNames(shown)).toEqual(['default/web-00000', 'default/worker-00003']);
  });
});
