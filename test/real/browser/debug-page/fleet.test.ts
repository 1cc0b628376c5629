import { expect, it, onTestFinished } from 'vitest';
import { createDebugHandler } from '../../../../src/debug.ts';
import { serveLocally } from '../../../support/serve-locally.ts';
import { findViolations } from '../support/find-violations.ts';
import { type OpenPageOptions, overflowOf, type SizeName, sizes } from '../support/open-page.ts';
import { sharedBrowser } from '../support/shared-browser.ts';
import { startDebuggedManager } from './debugged-manager.ts';
import { SampleFleet } from './sample-fleet.ts';

const open = sharedBrowser();
const everyLook = (Object.keys(sizes) as SizeName[]).flatMap((size) => [[size, 'light'] as const, [size, 'dark'] as const]);
const problem = { kind: 'start-node', message: 'the node cannot start: quota exceeded', attempt: 2, help: 'Raise it.' };

/** The page of the real handler with a fleet alone. At the end the browser has no complaint, and nothing has left its origin. */
async function openFleet(sample: SampleFleet, options: Partial<OpenPageOptions> = {}, view = '') {
  const handler = createDebugHandler({ fleet: sample });
  const server = await serveLocally(handler);
  onTestFinished(async () => {
    handler.close();
    await server[Symbol.asyncDispose]();
  });
  const { page, problems, foreignRequests } = await open({ ...options, url: `${server.url}${view}` });
  onTestFinished(() => expect([problems, foreignRequests]).toEqual([[], []]));
  await expect.poll(() => page.locator('#connection').textContent()).toBe('Live');
  return { page, rows: page.locator('#pods [role=row][id]'), grid: page.getByRole('grid', { name: 'Nodes' }) };
}

/** Nodes of every state, members of every kind, and what is wrong. */
function everything(): SampleFleet {
  const sample = new SampleFleet({ members: 9, shards: 40, nodes: 300 });
  sample.kill(3);
  sample.members = sample.members.map((one, index) => (index === 4 ? { ...one, isLeaving: true } : one));
  sample.unownedShards.add(7);
  sample.movingShards.add(3);
  sample.nodes.set('node-00000', { state: 'failed', problem });
  sample.nodes.set('node-00008', { state: 'starting', why: 'its pods are being listed' });
  sample.nodes.set('node-00016', { state: 'stopping' });
  sample.problems = [{ kind: 'unowned-shards', message: 'nobody owns 1 shard', attempt: 0 }];
  return sample;
}

it.each(everyLook)('on a %s, %s, the fleet and one node of it are in order', async (size, theme) => {
  const { page, rows } = await openFleet(everything(), { size, theme });
  await expect.poll(() => rows.first().innerText()).toContain('node-00000');
  if (size === 'phone') await page.locator('.charts > summary').click();
  await page.locator('.members').waitFor();
  expect([await findViolations(page), await overflowOf(page)]).toEqual([[], 0]);
  await rows.first().click();
  await page.locator('.pod-panel .trouble').waitFor();
  expect([await findViolations(page), await overflowOf(page)]).toEqual([[], 0]);
});

it('shows members, shards and nodes, what needs somebody first, and follows what moves', async () => {
  const sample = everything();
  const { page, rows } = await openFleet(sample);
  await expect.poll(() => rows.first().innerText()).toMatch(/^!\s*node-00000\s+The node cannot start: quota exceeded/i);
  expect(await page.locator('.summary').innerText()).toMatch(
    /Members\s+8\s+Shards\s+40\s+Unowned\s+! 1\s+Moving\s+1\s+Nodes\s+300/,
  );
  expect(await page.locator('.top-bar').innerText()).toMatch(/edge\s+fleet running, 8 members, 1 problem/);
  expect(await page.locator('.notices').innerText()).toContain('nobody owns 1 shard');
  expect(await page.title()).toBe('(1) edge · pod status manager');
  const members = page.getByRole('region', { name: 'Members' }).locator('tbody tr');
  expect(await members.first().innerText()).toMatch(/member-0\s*this one\s+alive\s+5\s+\d+\s+4 min\s+process member-0 on host-1/);
  expect(await members.filter({ hasText: 'leaving' }).count()).toBe(1);
  expect(await members.last().innerText()).toMatch(/member-3\s+gone\s+0\s+0/);
  const isDrawn = `(() => {
    const canvas = document.querySelector('.plot canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value) => value > 0);
  })()`;
  expect(await page.evaluate(isDrawn)).toBe(true);
  expect(await page.locator('.legend').allInnerTexts()).toContainEqual(expect.stringMatching(/3 others|2 others/));

  sample.nodes.delete('node-00000');
  sample.unownedShards.clear();
  await expect.poll(() => rows.first().locator('.tag').allInnerTexts()).toEqual(['moving']);
  sample.movingShards.clear();
  await expect.poll(() => page.locator('.summary').innerText()).toMatch(/Moving\s+0/);
});

it('finds nodes, narrows them by state, and opens one with Enter', async () => {
  const { page, rows, grid } = await openFleet(everything());
  await expect.poll(() => rows.count()).toBeGreaterThan(5);
  const filter = page.getByRole('searchbox');
  await filter.fill('member-2 shard-1');
  await expect.poll(() => page.locator('.filter-bar output').innerText()).toMatch(/^\d+ of 300 nodes$/);
  await filter.fill('node-00008');
  await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining('its pods are being listed')]);
  await filter.press('Enter');
  await grid.press('Enter');
  await expect.poll(() => page.locator('.pod-panel').innerText()).toContain('starting its pods are being listed');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /unowned/ }).click();
  await expect.poll(() => page.locator('.filter-bar output').innerText()).toBe('8 of 300 nodes');
  await page.reload();
  await expect.poll(() => page.locator('.filter-bar output').innerText()).toBe('8 of 300 nodes');
});

it('shows 10,000 nodes, of which it reads and draws those that can be seen', async () => {
  const { rows, grid } = await openFleet(new SampleFleet({ nodes: 10_000 }));
  await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('10001');
  expect(await rows.count()).toBeLessThan(60);
  await grid.evaluate((table) => table.scrollTo(0, table.scrollHeight));
  await expect.poll(async () => (await rows.allInnerTexts()).join(' ')).toContain('node-09999');
  expect(await rows.count()).toBeLessThan(60);
});

it('shows markup in whatever comes from the fleet as text', async () => {
  const markup = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>"\'>';
  const sample = new SampleFleet({ nodes: 2, shards: 2, members: 2, name: (index) => `${markup}${index}` });
  sample.members = sample.members.map((one, index) => (index === 1 ? { ...one, id: markup } : one));
  sample.nodes.set(`${markup}0`, { state: markup, why: markup, problem: { ...problem, message: markup, help: markup } });
  sample.problems = [{ kind: markup, message: markup, attempt: 0 }];
  sample.also = { name: markup };
  const { page, rows } = await openFleet(sample, {}, `#node=${encodeURIComponent(`${markup}0`)}`);
  await expect.poll(() => page.locator('.pod-panel').innerText()).toContain(markup);
  await expect.poll(async () => (await rows.allInnerTexts()).join(' ')).toContain(`${markup}1`);
  expect(await page.locator('.members').innerText()).toContain(markup);
  expect(await page.locator('img, iframe, object, embed').count()).toBe(0);
  expect(await page.title()).not.toBe('owned');
});

it('has the place of the pods where the reader wants it, and gives it back', async () => {
  const { manager } = await startDebuggedManager(['web'], '/debug');
  const handler = createDebugHandler({ manager, fleet: new SampleFleet({ nodes: 5 }) });
  const server = await serveLocally(handler);
  onTestFinished(async () => {
    handler.close();
    await server[Symbol.asyncDispose]();
  });
  const { page, problems } = await open({ url: server.url });
  await page.getByRole('grid', { name: 'Pods' }).waitFor();
  await page.keyboard.press('f');
  await page.getByRole('grid', { name: 'Nodes' }).waitFor();
  await page.getByRole('link', { name: 'pods' }).click();
  await page.getByRole('grid', { name: 'Pods' }).waitFor();
  await page.getByRole('link', { name: /fleet running, 4 members/ }).click();
  await page.getByRole('grid', { name: 'Nodes' }).waitFor();
  expect(problems).toEqual([]);
});
