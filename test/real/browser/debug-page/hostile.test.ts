import { expect, it } from 'vitest';
import type { DebugNote } from '../../../../src/observe/debug/debug-api.ts';
import { sharedBrowser } from '../support/shared-browser.ts';
import { openDebugPage } from './debug-page.ts';
import { podDetails, podRow } from './sample-pods.ts';

const open = sharedBrowser();
const markup = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>"\'>';

it('shows markup in whatever comes from the cluster as text', async () => {
  const problem = { kind: markup, message: markup, since: 1, attempt: 2, help: markup };
  const row = podRow(1, { podUID: `uid ${markup}`, name: markup, namespace: markup, phase: markup, problem });
  const changes = [{ path: `/${markup}`, before: markup, after: { [markup]: markup } }];
  const shown = await openDebugPage(open, [row], {
    view: `pod=${encodeURIComponent(row.podUID)}`,
    prepare: (server) => {
      const notes: DebugNote[] = [
        { ...problem, of: 'node', pods: 0 },
        { ...problem, podUID: row.podUID, podNamespace: markup, podName: markup, of: 'manager', pods: 1 },
      ];
      const scheduler = { state: markup, notes: [markup], problemCount: 1 };
      server.summary = {
        state: markup,
        notes,
        scheduler,
        node: { name: markup, state: markup, ready: true, registered: true, notes: [markup], problemCount: 1 },
      };
      server.describe({
        ...podDetails(row),
        reason: markup,
        scheduler: markup,
        otherProblems: [{ ...problem, kind: 'other' }],
        differs: [markup],
        node: [[markup, markup]],
        timeline: [
          { kind: 'set', at: 1, version: 1, changes },
          {
            kind: 'request',
            at: 2,
            verb: 'patch',
            result: 'invalid',
            durationMs: 1,
            body: { [markup]: markup },
            bytes: 1,
            message: markup,
          },
          { kind: 'error', at: 3, errorClass: 'invalid', message: markup, attempt: 1, retryInMs: undefined },
          { kind: 'refused', at: 4, reason: markup },
        ],
        status: { message: markup },
      });
    },
  });
  await shown.panel.locator('.timeline').waitFor();
  expect((await shown.page.locator('.notices').innerText()).split(markup).length - 1).toBe(4);
  expect(await shown.page.locator('img, iframe, object, embed').count()).toBe(0);
  expect(await shown.page.locator('script').count()).toBe(2);
  expect(await shown.page.title()).toBe(`(1) ${markup.slice(0, 100)} · pod status manager`);
  expect(await shown.rows.first().innerText()).toContain(markup);
  expect((await shown.panel.innerText()).split(markup).length - 1).toBeGreaterThanOrEqual(12);
  expect(shown.problems).toEqual([]);
});

it('runs no script, loads nothing and sends nothing elsewhere, even when markup got in', async () => {
  const { page } = await openDebugPage(open, [podRow(1)], { hasProblems: true });
  const added = `(() => {
    const script = document.createElement('script');
    try { script.text = 'document.title = "owned"'; } catch {}
    document.body.append(script);
    try { document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="document.title=1">'); } catch (error) { return error.name; }
  })()`;
  expect(await page.evaluate(added)).toBe('TypeError');
  expect(await page.title()).toBe('pod status manager');
  const sent = "fetch('https://elsewhere.invalid/').then(() => 'sent', () => 'blocked')";
  expect(await page.evaluate(sent)).toBe('blocked');
});
