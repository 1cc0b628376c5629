import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { page, pagePolicy } from '../../../../../src/observe/debug/page/page.ts';
import { buildPage } from '../../../../../tools/page/bundle.ts';

/** The page is downloaded on a phone's line too, and is part of every installation. */
const bytesAtMost = 136_000;

it('is what `npm run build:page` makes of the sources', async () => {
  const committed = await readFile(new URL('../../../../../src/observe/debug/page/page.ts', import.meta.url), 'utf8');
  // compared as one truth: a difference of two long lines cannot be read
  expect(committed === (await buildPage())).toBe(true);
});

it(`has at most ${bytesAtMost} bytes`, () => {
  expect(Buffer.byteLength(page)).toBeLessThanOrEqual(bytesAtMost);
});

it('lets its own script and style run, and no other', () => {
  const digest = (element: RegExp): string =>
    createHash('sha256')
      .update(element.exec(page)?.[1] ?? '')
      .digest('base64');
  expect(pagePolicy).toContain(`script-src 'sha256-${digest(/<script type="module">([\s\S]*?)<\/script>/)}';`);
  expect(pagePolicy).toContain(`style-src 'sha256-${digest(/<style>([\s\S]*?)<\/style>/)}';`);
  expect(pagePolicy).not.toContain('unsafe');
  expect([...page.matchAll(/<script\b/g)]).toHaveLength(2);
  expect([...page.matchAll(/<style\b/g)]).toHaveLength(1);
});

it('shows the licences of what it contains', () => {
  expect(page).toContain('Permission is hereby granted, free of charge');
  expect(page).toMatch(/Jason Miller/);
  expect(page).toMatch(/Leon Sorokin/);
});
