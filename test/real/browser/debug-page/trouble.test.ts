import { describe, expect, it } from 'vitest';
import type { DebugNote, DebugPodRow, DebugProblem } from '../../../../src/observe/debug/debug-api.ts';
import { sharedBrowser } from '../support/shared-browser.ts';
import { type DebugPage, drawnNames, focused, openDebugPage } from './debug-page.ts';
import type { FakeDebugServer } from './fake-debug-server.ts';
import { podDetails, podRow } from './sample-pods.ts';

const open = sharedBrowser();
const fails = (agoMs: number, changes: Partial<DebugProblem> = {}) => ({
  kind: 'create-pod',
  message: 'createPod() failed: quota exceeded',
  since: Date.now() - agoMs,
  attempt: 2,
  retryAt: Date.now() + 90_000,
  help: 'Raise the quota.',
  ...changes,
});
const well = podRow(0);
const short = (): DebugPodRow => podRow(3, { problem: fails(5_000) });
const long = (): DebugPodRow => podRow(6, { problem: fails(60_000), sync: 'unknown', knownBy: 'node', phase: undefined });
const node = { name: 'node-1', state: 'running', ready: true, registered: true, notes: [], problemCount: 2 };

function inTrouble(server: FakeDebugServer): void {
  const lease: DebugNote = { kind: 'lease', message: 'the Lease is late', attempt: 2, of: 'node', pods: 0 };
  const { podUID, namespace, name, problem = fails(0) } = long();
  const ofPod: DebugNote = { ...problem, podUID, podNamespace: namespace, podName: name, of: 'node', pods: 2 };
  server.summary = { node, ownProblems: { node: 1 }, notes: [lease, ofPod] };
  server.part = {
    problems: [lease, { ...problem, podUID, podNamespace: namespace, podName: name }],
    problemCount: 2,
    lines: [
      ['state', 'running'],
      ['lease.lastRenewAt', new Date(Date.now() - 60_000).toISOString()],
      ['workers.pods', '3'],
    ],
  };
}

/** What a reader without colours sees of the row: its text, and the sign that the style puts before its state. */
async function looksOf({ rows }: Pick<DebugPage, 'rows'>, name: string): Promise<[text: string, sign: string, tone: string]> {
  const pill = rows.filter({ hasText: name }).locator('.cell-sync .pill');
  const sign = await pill.evaluate((found) => String(Reflect.get(globalThis, 'getComputedStyle')(found, '::before').content));
  return [await rows.filter({ hasText: name }).innerText(), sign, (await pill.getAttribute('class')) ?? ''];
}

describe('pods in trouble', () => {
  it('come first, the longest first, are counted in the title, and shown alone where that is asked for', async () => {
    const shown = await openDebugPage(open, [well, short(), long()], { prepare: inTrouble });
    expect(await drawnNames(shown)).toEqual(['default/search-00006', 'default/worker-00003', 'default/web-00000']);
    expect(await shown.page.title()).toBe('(3) node-1 · pod status manager');
    expect(await shown.page.locator('.summary').innerText()).toMatch(
      /In trouble\s+! 1 problem of the node, 2 of 3 pods\s+Pods\s+3/,
    );
    await shown.page.getByRole('button', { name: 'in trouble 2' }).click();
    await expect.poll(() => drawnNames(shown)).toEqual(['default/search-00006', 'default/worker-00003']);
    expect(shown.page.url()).toContain('#trouble=yes');
    await shown.page.reload();
    await expect.poll(() => drawnNames(shown)).toEqual(['default/search-00006', 'default/worker-00003']);
    shown.server.change([podRow(3)]);
    await expect.poll(() => drawnNames(shown)).toEqual(['default/search-00006']);
    expect(await shown.page.title()).toBe('(2) node-1 · pod status manager');
  });

  it('are never green, and a reader without colours sees it too', async () => {
    const shown = await openDebugPage(open, [well, short()]);
    const [text, sign, tone] = await looksOf(shown, 'worker-00003');
    expect(text).toMatch(
      /^!\s+default\/worker-00003\s+createPod\(\) failed: quota exceeded\. It has failed twice, for \d\.\d s\. .*Raise the quota\.\s/,
    );
    expect([sign, tone]).toEqual(['none', 'pill tone-idle']);
    expect(await shown.rows.filter({ hasText: 'worker-00003' }).locator('.is-ready, .tone-good').count()).toBe(0);
    const [, goodSign, goodTone] = await looksOf(shown, 'web-00000');
    expect([goodSign, goodTone]).toEqual(['"✓ "', 'pill tone-good']);
    shown.server.change([podRow(0, { sync: 'quarantined' })]);
    await expect.poll(() => looksOf(shown, 'web-00000')).toMatchObject([expect.anything(), '"! "', 'pill tone-bad']);
  });

  it('say in two lines what is wrong, within the height of a row', async () => {
    const message = `the status could not be written: ${'the apiserver does not take it '.repeat(4)}`;
    const shown = await openDebugPage(open, [podRow(3, { problem: fails(5_000, { message }) })]);
    const cell = shown.rows.filter({ hasText: 'worker-00003' }).locator('.cell-trouble');
    const box = await cell.boundingBox();
    const row = await shown.rows.filter({ hasText: 'worker-00003' }).boundingBox();
    expect(box?.height).toBeGreaterThan(25);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual((row?.y ?? 0) + (row?.height ?? 0));
  });

  it('are told in the icon of the tab, which is green only when all is well', async () => {
    const shown = await openDebugPage(open, [well, short()]);
    const icon = async (): Promise<string> =>
      decodeURIComponent((await shown.page.locator('link[rel=icon]').getAttribute('href')) ?? '');
    await expect.poll(icon).toContain('#c62f26');
    shown.server.change([podRow(3)]);
    await expect.poll(icon).toContain('#1a7f4b');
    shown.server.summary = { state: 'stopped' };
    shown.server.change([]);
    await expect.poll(icon).toContain('#c62f26');
    await shown.page.keyboard.press('p');
    await expect.poll(icon).toContain('#5b6571');
  });
});

describe('the panel of a pod in trouble', () => {
  it('begins with one sentence whose times go on, and has times as times', async () => {
    const row = podRow(3, { problem: fails(125_000, { retryAt: Date.now() + 8_000 }) });
    const shown = await openDebugPage(open, [row], {
      view: `pod=${row.podUID}`,
      prepare: (server) => {
        const other = { kind: 'forbidden', message: 'PATCH failed: no right', attempt: 1 };
        server.describe({ ...podDetails(row), otherProblems: [other], node: [['failure.at', new Date(0).toISOString()]] });
      },
    });
    const first = shown.panel.locator('.panel-body > :first-child');
    await expect
      .poll(() => first.innerText())
      .toMatch(
        /^! createPod\(\) failed: quota exceeded\. It has failed twice, for 2 min\. Next try in [67]\.\d s\. Raise the quota\.$/,
      );
    await expect.poll(() => first.innerText()).toContain('It is tried again now.');
    expect(await shown.panel.locator('.trouble').nth(1).innerText()).toBe('! PATCH failed: no right.');
    expect(await shown.panel.locator('.facts').first().innerText()).toMatch(/In trouble since\s+[\d:.]+ \(2 min ago\)/);
    expect(await shown.panel.locator('.more .facts').isVisible()).toBe(false);
    await shown.panel.locator('.more > summary').click();
    expect(await shown.panel.locator('.more .facts').innerText()).toMatch(/failure: at\s+[\d:.]+ \(\d+ d ago\)/);
    expect(await shown.panel.innerText()).not.toMatch(/\d{12}/);
  });

  it('tells a failure once, and whose word the phase is', async () => {
    const problem = fails(5_000, { kind: 'forbidden', message: 'the status could not be written: no right' });
    const row = podRow(3, { problem, sync: 'backing-off', attempt: 2 });
    const reason = 'the last attempt failed and is tried again (forbidden: no right)';
    const shown = await openDebugPage(open, [row], {
      view: `pod=${row.podUID}`,
      prepare: (server) => server.describe({ ...podDetails(row), reason, timeline: [] }),
    });
    await expect
      .poll(() => shown.panel.locator('.status-reason').innerText())
      .toBe('backing-off ×2 The last attempt failed. The next one waits for the backoff.');
    expect((await shown.panel.innerText()).split('no right')).toHaveLength(2);
    expect(await shown.panel.locator('.facts').first().innerText()).toMatch(/Phase, as the agent says\s+Running, ready/);
  });

  it('shows a pod that only the node knows', async () => {
    const row = long();
    const shown = await openDebugPage(open, [row], { view: `pod=${row.podUID}` });
    await expect.poll(() => shown.panel.innerText()).toMatch(/Without a status since\s+[\d:.]+ \(/);
    expect(await shown.panel.innerText()).not.toMatch(/^(?:Version|Restarts)$/m);
  });
});

describe('notes', () => {
  it('are links: to the pod that they name, else to the node', async () => {
    const shown = await openDebugPage(open, [well, short(), long()], { prepare: inTrouble, view: 'sort=name' });
    const { page, panel } = shown;
    await page.getByRole('link', { name: /^default\/search-00006: createPod\(\) failed/ }).click();
    await expect.poll(() => panel.locator('h2').innerText()).toBe('search-00006');
    expect(page.url()).toContain('#pod=uid-00006&sort=name');
    await page.getByRole('link', { name: 'the Lease is late; failed twice' }).click();
    await expect.poll(() => panel.locator('h2').innerText()).toBe('node-1');
    expect(page.url()).toContain('#panel=node&sort=name');
    await page.goBack();
    await expect.poll(() => panel.locator('h2').innerText()).toBe('search-00006');
  });
});

describe('the panel of the node', () => {
  it('has its problems as sentences, what its parts did last, and the rest folded', async () => {
    const shown = await openDebugPage(open, [long()], { prepare: inTrouble });
    const { page, panel } = shown;
    const pill = page.getByRole('link', { name: 'node ready, 1 problem' });
    expect(await pill.getAttribute('class')).toBe('pill tone-late');
    await pill.click();
    await expect
      .poll(() => panel.locator('.trouble').allInnerTexts())
      .toEqual([
        '! the Lease is late. It has failed twice.',
        expect.stringMatching(/^! default\/search-00006 createPod\(\) failed: quota exceeded\. It has failed twice, for 6\d s\./),
      ]);
    expect(await panel.locator('.group').first().innerText()).toMatch(/lease\s+last renew at\s+[\d:.]+ \(6\d s ago\)/);
    expect(await panel.getByText('workers').isVisible()).toBe(false);
    await panel.locator('.trouble a').click();
    await expect.poll(() => panel.locator('h2').innerText()).toBe('search-00006');
  });

  it('is that of an agent without a Node object, which is never called not ready', async () => {
    const agent = { name: 'node-1', state: 'running', hasListed: true, notes: [], problemCount: 0 };
    const shown = await openDebugPage(open, [well], { prepare: (server) => Object.assign(server.summary, { node: agent }) });
    const pill = shown.page.locator('.top-bar a.pill');
    await expect.poll(() => pill.innerText()).toBe('agent running');
    expect(await pill.getAttribute('class')).toBe('pill tone-good');
    shown.server.summary = { node: { ...agent, hasListed: false, problemCount: 1 }, ownProblems: { node: 1 } };
    shown.server.change([]);
    await expect.poll(() => pill.innerText()).toBe('pods not listed, 1 problem');
    expect(await pill.getAttribute('class')).toBe('pill tone-bad');
    expect(await shown.page.title()).toBe('(1) node-1 · pod status manager');
  });

  it('counts no problem of a pod as the node’s own', async () => {
    const shown = await openDebugPage(open, [long()], { prepare: (server) => Object.assign(server.summary, { node }) });
    const pill = shown.page.locator('.top-bar a.pill');
    await expect.poll(() => pill.innerText()).toBe('node ready');
    expect(await pill.getAttribute('class')).toBe('pill tone-good');
  });

  it('is read again by itself, and says when nothing is wrong', async () => {
    const prepare = (server: FakeDebugServer): void => {
      server.summary = { node: { ...node, problemCount: 0 } };
    };
    const shown = await openDebugPage(open, [well], { prepare, view: 'panel=node' });
    await expect.poll(() => shown.panel.locator('.notice').innerText()).toBe('It is running. Nothing is wrong.');
    expect(await shown.page.locator('.top-bar a.pill').getAttribute('class')).toBe('pill tone-good');
    shown.server.part = { problems: [{ kind: 'lease', message: 'the Lease is late', attempt: 0 }], problemCount: 1 };
    await expect.poll(() => shown.panel.locator('.trouble').innerText()).toBe('! the Lease is late.');
  });

  it('and that of a scheduler are opened and closed by the keyboard', async () => {
    const prepare = (server: FakeDebugServer): void => {
      server.summary = { state: 'none', node, scheduler: { state: 'running', notes: [], problemCount: 0 } };
    };
    const { page, panel } = await openDebugPage(open, [well], { prepare });
    expect(await page.locator('.summary').innerText()).not.toContain('Requests now');
    await page.keyboard.press('n');
    await panel.waitFor();
    await expect.poll(() => focused(page)).toBe('panel-title');
    await page.keyboard.press('s');
    await expect.poll(() => panel.locator('.muted').first().innerText()).toBe('scheduler');
    await page.keyboard.press('Escape');
    await expect.poll(() => focused(page)).toBe('pods');
    await page.keyboard.press('t');
    await expect.poll(() => page.locator('output').innerText()).toBe('0 of 1 pod');
    await page.keyboard.press('t');
    await expect.poll(() => page.locator('output').innerText()).toBe('1 pod');
    await page.getByRole('link', { name: 'scheduler running' }).focus();
    await page.keyboard.press('Enter');
    await panel.waitFor();
    expect(page.url()).toContain('#panel=scheduler');
  });
});
