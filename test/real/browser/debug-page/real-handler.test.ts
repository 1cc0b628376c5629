import { describe, expect, it } from 'vitest';
import { sharedBrowser } from '../support/shared-browser.ts';
import { startDebuggedManager } from './debugged-manager.ts';

const open = sharedBrowser();

describe.each(['/debug', '/debug/', '/behind/a/proxy/'])('the page of a status manager under %s', (path) => {
  it('follows a pod from its first status to one that the apiserver refuses', async () => {
    const { manager, client, pods, url } = await startDebuggedManager(['web', 'api'], path);
    const [web = {}] = pods;
    const { page, problems, foreignRequests } = await open({ url });
    await expect.poll(() => page.locator('#connection').textContent()).toBe('Live');
    const row = page.locator('#pods [role=row][id]');
    expect(await row.count()).toBe(0);

    manager.setPodStatus(web, { phase: 'Pending' });
    await expect.poll(() => row.allInnerTexts()).toEqual([expect.stringMatching(/default\/web\s+Pending[\s\S]*in-sync\s+1\s/)]);
    await row.first().click();
    const entries = page.locator('.entry > strong');
    await expect.poll(() => entries.allInnerTexts()).toEqual(['synced', 'PATCH ok', 'set version 1']);

    client.failNext('patch', { code: 503 });
    manager.setPodStatus(web, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
    await expect.poll(() => entries.allInnerTexts()).toContain('PATCH unavailable');
    await expect.poll(() => entries.first().innerText(), { timeout: 20_000 }).toBe('synced');
    const wire = page.locator('.wire').first();
    await wire.locator('summary').click();
    expect(JSON.parse(await wire.locator('pre').innerText())).toMatchObject({ status: { phase: 'Running' } });
    const phase = page.locator('.changes > li').filter({ hasText: '/phase' }).first();
    expect((await phase.innerText()).replaceAll(/\s+/g, ' ')).toBe('/phase − before: "Pending" + after: "Running"');
    // The summary comes by the stream and the pod by a request of its own: either may be shown first.
    await expect.poll(() => page.locator('.summary').innerText()).toMatch(/Pods\s+1\s+In sync\s+1/);

    expect([problems, foreignRequests]).toEqual([[], []]);
  });
});
