import { expect, it } from 'vitest';
import { entryPoints } from '../../structure/rooms.ts';
import { pagesOfSite, readWarnings } from './support/built-site.ts';

it('the build warns of nothing: no lost link, no type that a public name uses and no entry point exports', () => {
  expect(readWarnings()).toEqual([]);
});

it('has the home page, a page for each entry point, and the error codes', () => {
  const pages = pagesOfSite();
  const paths = entryPoints.map((name) => `api/${name}.html`);
  expect(pages).toEqual(expect.arrayContaining(['index.html', 'docs/errors.html', ...paths]));
});
