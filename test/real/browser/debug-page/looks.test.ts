import { expect, it } from 'vitest';
import { findViolations } from '../support/find-violations.ts';
import { overflowOf, type SizeName, sizes } from '../support/open-page.ts';
import { sharedBrowser } from '../support/shared-browser.ts';
import { type DebugPage, openDebugPage } from './debug-page.ts';
import type { FakeDebugServer } from './fake-debug-server.ts';
import { podRow, podRows, quietTraffic } from './sample-pods.ts';

const open = sharedBrowser();
const everyLook = (Object.keys(sizes) as SizeName[]).flatMap((size) => [[size, 'light'] as const, [size, 'dark'] as const]);

/** One pod of each state, and all that the head of the page can show. */
function everything(server: FakeDebugServer): void {
  const states = [
    'quarantined',
    'backing-off',
    'paused',
    'pending',
    'in-flight',
    'not-started',
    'terminal-phase-held-back',
  ] as const;
  const more = ['deleting', 'no-mirror-pod', 'gone', 'cache-only', 'unknown'] as const;
  const rows = [...states, ...more].map((sync, index) =>
    podRow(index, { sync, attempt: index, isDeleting: index % 2 === 0, isStatic: true }),
  );
  const problem = {
    kind: 'k',
    message: `createPod() failed: ${'quota exceeded '.repeat(20)}`,
    since: 1,
    attempt: 3,
    help: 'Raise it.',
  };
  rows.push(podRow(20, { problem }), podRow(21, { problem, sync: 'unknown', knownBy: 'node', phase: undefined, ready: false }));
  server.change(rows);
  server.traffic = quietTraffic();
  const node = {
    name: 'a-node-with-a-rather-long-name.example.com',
    state: 'running',
    ready: true,
    registered: true,
    notes: ['It waits.'],
    problemCount: 1,
  };
  const note = (index: number) => ({ ...problem, kind: `k${index}`, of: 'node', pods: 0 }) as const;
  const scheduler = { state: 'running', notes: [], problemCount: 0 };
  const notes = Array.from({ length: 5 }, (_, index) => note(index));
  server.part = {
    problems: notes,
    problemCount: 9,
    lines: [
      ['state', 'running'],
      ['lease.lastRenewAt', new Date().toISOString()],
      ['a.b', 'c'],
    ],
  };
  server.summary = { node, scheduler, notes, pausedUntil: Date.now() + 3_600_000, oldestUnsentMs: 4200, state: 'draining' };
}

async function expectInOrder({ page, problems }: DebugPage): Promise<void> {
  expect(await findViolations(page)).toEqual([]);
  expect(await overflowOf(page)).toBe(0);
  expect(problems).toEqual([]);
}

const backgroundOf = (shown: DebugPage): Promise<string> =>
  shown.page.evaluate('getComputedStyle(document.body).backgroundColor');

it.each(everyLook)('on a %s, %s, the table and one pod are in order', async (size, theme) => {
  const shown = await openDebugPage(open, podRows(100), { size, theme, prepare: everything });
  await expectInOrder(shown);
  expect(await backgroundOf(shown)).toBe(theme === 'light' ? 'rgb(246, 247, 249)' : 'rgb(21, 24, 28)');
  await shown.page.getByRole('link', { name: /node ready/ }).click();
  await shown.panel.locator('.group').first().waitFor();
  await expectInOrder(shown);
  await shown.panel.getByRole('button', { name: 'Close' }).click();
  await shown.rows.first().click();
  await shown.panel.locator('.wire').first().locator('summary').click();
  await shown.panel.locator('.status > summary').click();
  await expectInOrder(shown);
});

it('the help is in order', async () => {
  const shown = await openDebugPage(open, podRows(3), { theme: 'dark' });
  await shown.page.getByRole('button', { name: 'Help' }).click();
  await shown.page.getByText('Licences of what this page contains').click();
  await expectInOrder(shown);
  expect(await shown.page.getByRole('dialog').innerText()).toContain('Permission is hereby granted');
  await shown.page.getByRole('button', { name: 'Close' }).click();
  await shown.page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect(shown.problems).toEqual([]);
});

it('the reader chooses another theme than the system has, which lasts', async () => {
  const shown = await openDebugPage(open, podRows(3), { theme: 'light' });
  const button = shown.page.getByRole('button', { name: /^Theme/ });
  await button.click();
  await button.click();
  await expect.poll(() => backgroundOf(shown)).toBe('rgb(21, 24, 28)');
  await shown.page.reload();
  await expect.poll(() => backgroundOf(shown)).toBe('rgb(21, 24, 28)');
  await button.click();
  await expect.poll(() => backgroundOf(shown)).toBe('rgb(246, 247, 249)');
});
