import { describe, expect, it } from 'vitest';
import { sharedBrowser } from '../support/shared-browser.ts';
import { openDebugPage } from './debug-page.ts';
import { podDetails, podRow, podRows } from './sample-pods.ts';

const open = sharedBrowser();

describe('one pod', () => {
  it('shows why its status stands where it stands, and what has happened, newest first', async () => {
    const { rows, panel, problems } = await openDebugPage(open, [podRow(1)]);
    await rows.first().click();
    await panel.locator('.timeline').waitFor();
    expect(await panel.locator('.notice').innerText()).toBe('in-sync The apiserver has version 3, the newest.');
    const entries = await panel.locator('.entry > strong').allInnerTexts();
    expect(entries).toEqual(['synced', 'PATCH ok', 'set version 3', 'error: conflict', 'PATCH conflict', 'set version 2']);
    expect(await panel.innerText()).toContain('version 3: the apiserver has taken it, 6 ms after it was set');
    expect(await panel.innerText()).toContain('4 older entries are no longer kept.');
    await panel.locator('.more > summary').click();
    expect(await panel.locator('.more .facts').innerText()).toMatch(/UID\s+uid-00001\s+Worker\s+sync, idle/);
    expect(problems).toEqual([]);
  });

  it('shows each change before and after', async () => {
    const { panel } = await openDebugPage(open, [podRow(1)], { view: 'pod=uid-00001' });
    const changes = panel.locator('.timeline > li').nth(2).locator('.changes > li');
    await changes.first().waitFor();
    expect((await changes.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
      '/phase − before: "Pending" + after: "Running"',
      '/conditions/1/status − before: "False" + after: "True"',
      expect.stringMatching(/^\/containerStatuses\/0\/state − before: .*ContainerCreating.* \+ after: .*startedAt/),
    ]);
    const first = panel.locator('.timeline > li').last().locator('.changes > li');
    expect((await first.innerText()).replaceAll(/\s+/g, ' ')).toBe('/phase + after: "Pending"');
  });

  it('shows what was on the wire', async () => {
    const { panel } = await openDebugPage(open, [podRow(1)], { view: 'pod=uid-00001' });
    const wire = panel.locator('.wire').first();
    await wire.locator('summary').click();
    expect(JSON.parse(await wire.locator('pre').innerText())).toEqual({
      metadata: { uid: 'uid-00001', resourceVersion: '4711' },
      status: { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' },
    });
    expect(await panel.locator('.timeline > li').nth(1).innerText()).toContain('5 ms, 143 B');
  });

  it('is read again when it changes', async () => {
    const { server, panel } = await openDebugPage(open, [podRow(1)], { view: 'pod=uid-00001' });
    await panel.locator('.timeline').waitFor();
    const changed = podRow(1, { sync: 'quarantined' });
    server.describe({ ...podDetails(changed), reason: 'The apiserver refused it: spec is invalid.', timeline: [] });
    server.change([changed]);
    await expect.poll(() => panel.locator('.notice').innerText()).toBe('quarantined The apiserver refused it: spec is invalid.');
    expect(await panel.innerText()).toContain('Nothing was recorded of this pod yet.');
  });

  it('has an address of its own, and the Back button closes it', async () => {
    const { page, rows, panel } = await openDebugPage(open, podRows(3));
    await rows.first().click();
    await panel.waitFor();
    await rows.nth(1).click();
    await expect.poll(() => panel.locator('h2').innerText()).toBe('cache-00002');
    await page.goBack();
    await expect.poll(() => panel.locator('h2').innerText()).toBe('web-00000');
    await page.goBack();
    await panel.waitFor({ state: 'detached' });
  });

  it('says so when there is no such pod', async () => {
    const { panel } = await openDebugPage(open, podRows(3), { view: 'pod=uid-of-nobody', hasProblems: true });
    await expect.poll(() => panel.getByRole('alert').innerText()).toBe('The server knows no such pod any more.');
    await panel.getByRole('button', { name: 'Close' }).click();
    await panel.waitFor({ state: 'detached' });
  });

  it('covers the page on a phone: what is beneath cannot be reached', async () => {
    const { page, rows, panel } = await openDebugPage(open, podRows(3), { size: 'phone' });
    await rows.first().tap();
    await panel.waitFor();
    expect(await panel.boundingBox()).toEqual({ x: 0, y: 0, width: 360, height: 740 });
    expect(await page.locator('.everything').getAttribute('inert')).not.toBeNull();
    await panel.getByRole('button', { name: 'Close' }).tap();
    await panel.waitFor({ state: 'detached' });
    expect(await page.locator('.everything').getAttribute('inert')).toBeNull();
  });
});
