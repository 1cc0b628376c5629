import { expect, it } from 'vitest';
import { sharedBrowser } from '../support/shared-browser.ts';
import { openDebugPage } from './debug-page.ts';
import { podDetails, podRow } from './sample-pods.ts';

const open = sharedBrowser();
const markup = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>"\'>';

it('shows markup in whatever comes from the cluster as text', async () => {
  const row = podRow(1, { podUID: `uid ${markup}`, name: markup, namespace: markup, phase: markup });
  const changes = [{ path: `/${markup}`, before: markup, after: { [markup]: markup } }];
  const shown = await openDebugPage(open, [row], {
    view: `pod=${encodeURIComponent(row.podUID)}`,
    prepare: (server) => {
      server.summary = {
        state: markup,
        node: { name: markup, state: markup, ready: true, registered: true, notes: [markup], problemCount: 1 },
      };
      server.describe({
        ...podDetails(row),
        reason: markup,
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
          { kind: 'error', at: 3, errorClass: 'invalid', message: markup, attempts: 1, retryInMs: undefined },
          { kind: 'refused', at: 4, reason: markup },
        ],
        status: { message: markup },
      });
    },
  });
  await shown.panel.locator('.timeline').waitFor();
  expect(await shown.page.locator('img, iframe, object, embed').count()).toBe(0);
  expect(await shown.page.locator('script').count()).toBe(2);
  expect(await shown.page.title()).toBe('pod status manager');
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
