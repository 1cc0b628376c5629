import { expect, it, onTestFinished } from 'vitest';
import { sharedBrowser } from '../support/shared-browser.ts';
import { drawnNames, openDebugPage } from './debug-page.ts';
import { FakeDebugServer } from './fake-debug-server.ts';
import { podRow } from './sample-pods.ts';

const open = sharedBrowser();

it('tells that the server is gone, keeps what it knows, and starts anew with the next one', async () => {
  const shown = await openDebugPage(open, [podRow(0), podRow(3)], { hasProblems: true });
  const { page, server, connection } = shown;
  const { port } = server;
  await server.close();
  await expect.poll(() => connection.textContent()).toBe('No connection');
  expect(await page.locator('.notices').innerText()).toContain('The server cannot be reached. What is shown is old.');
  expect(await drawnNames(shown)).toEqual(['default/web-00000', 'default/worker-00003']);
  const next = await FakeDebugServer.start([podRow(6)], port);
  onTestFinished(() => next.close());
  await expect.poll(() => connection.textContent(), { timeout: 15_000 }).toBe('Live');
  expect(await drawnNames(shown)).toEqual(['default/search-00006']);
  expect(await page.locator('.notices').count()).toBe(0);
});

it('tries at once when it is told to', async () => {
  const { page, server, connection } = await openDebugPage(open, [podRow(0)], { hasProblems: true });
  const { port } = server;
  await server.close();
  // the waits are doubled up to eight seconds by then
  await expect.poll(() => page.locator('.notices').innerText(), { timeout: 30_000 }).toMatch(/in [78] s/);
  const next = await FakeDebugServer.start([podRow(6)], port);
  onTestFinished(() => next.close());
  await page.getByRole('button', { name: 'Try now' }).click();
  await expect.poll(() => connection.textContent(), { timeout: 5_000 }).toBe('Live');
});
