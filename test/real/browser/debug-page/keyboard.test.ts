import { describe, expect, it } from 'vitest';
import { sharedBrowser } from '../support/shared-browser.ts';
import { type DebugPage, focused, openDebugPage } from './debug-page.ts';
import { podRows } from './sample-pods.ts';

const open = sharedBrowser();

/** The name in the row that the keyboard is on, as a screen reader is told. */
async function activeName({ page, table }: DebugPage): Promise<string | undefined> {
  const id = await table.getAttribute('aria-activedescendant');
  return id === null ? undefined : ((await page.locator(`#${id} .pod-name`).textContent()) ?? undefined);
}

describe('by the keyboard alone', () => {
  it('one goes to the filter, into the table, to a pod, and back', async () => {
    const shown = await openDebugPage(open, podRows(1000));
    const { page, panel } = shown;
    await page.keyboard.press('/');
    await page.keyboard.type('web-');
    expect([await focused(page), await shown.filter.inputValue()]).toEqual(['filter', 'web-']);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => activeName(shown)).toBe('default/web-00000');
    expect(await focused(page)).toBe('pods');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => activeName(shown)).toBe('default/web-00048');
    await page.keyboard.press('Enter');
    await panel.waitFor();
    expect(await focused(page)).toBe('panel-title');
    expect(page.url()).toContain('pod=uid-00048');
    await page.keyboard.press('Escape');
    await expect.poll(() => focused(page)).toBe('pods');
    expect([await panel.count(), await activeName(shown)]).toEqual([0, 'default/web-00048']);
    await page.keyboard.press('Escape');
    await expect.poll(() => shown.filter.inputValue()).toBe('');
  });

  it('one goes through the table by steps, by pages, and to its ends; the row is always in view', async () => {
    const shown = await openDebugPage(open, podRows(1000));
    const { page, table } = shown;
    await table.focus();
    const isInView = async (): Promise<boolean> => {
      const [row, box] = [await page.locator('.pod-row.active').boundingBox(), await table.boundingBox()];
      if (row === null || box === null) return false;
      return row.y >= box.y + 34 && row.y + row.height <= box.y + box.height + 1;
    };
    for (const [key, name] of [
      ['End', 'shop/worker-00979'],
      ['ArrowUp', 'shop/worker-00955'],
      ['Home', 'default/api-00009'],
      ['PageDown', undefined],
      ['PageDown', undefined],
      ['PageUp', undefined],
    ] as const) {
      await page.keyboard.press(key);
      if (name !== undefined) await expect.poll(() => activeName(shown)).toBe(name);
      await expect.poll(isInView).toBe(true);
    }
  });

  it('one sees where one is: every stop of the Tab key has an outline', async () => {
    const { page } = await openDebugPage(open, podRows(3), { view: 'pod=uid-00001' });
    await page.locator('.timeline').waitFor();
    const stops = new Set<string>();
    for (let press = 0; press < 30; press += 1) {
      await page.keyboard.press('Tab');
      const [stop, outline] = await page.evaluate<[string, string]>(
        '[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]',
      );
      // after the last stop comes the browser itself, and then the first
      if (stop === 'BODY') continue;
      expect([stop, outline]).toEqual([stop, 'solid']);
      stops.add(stop);
    }
  });

  it('one reads the keys, and pauses and resumes', async () => {
    const { page, server, connection } = await openDebugPage(open, podRows(3));
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('p');
    await expect.poll(() => connection.textContent()).toBe('Paused');
    await expect.poll(() => server.streams).toBe(0);
    await page.keyboard.press('p');
    await expect.poll(() => connection.textContent()).toBe('Live');
  });
});
