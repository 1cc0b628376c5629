import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documents, namesIn, unclearNames } from './named-files.ts';
import { root } from './source-tree.ts';

describe('the documents', () => {
  it('name only files that are there, each by a name that only it has', () => {
    const pages = documents().map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
    expect(pages.length).toBeGreaterThan(50);
    expect(pages.flatMap(({ text }) => namesIn(text)).length).toBeGreaterThan(500);
    expect(pages.flatMap(({ path, text }) => unclearNames(text).map((name) => `${path}: ${name}`))).toEqual([]);
  });

  it('are seen to name what is not there, or there twice', () => {
    const text = 'In `source-tree.ts`, `no-such.ts` and `index.ts`; test/structure/rooms.ts and test/attic/rooms.ts, too.';
    expect(unclearNames(text)).toEqual(['no-such.ts', 'index.ts', 'test/attic/rooms.ts']);
  });
});
