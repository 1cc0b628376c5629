import { expect, it } from 'vitest';
import { doors } from '../structure/rooms.ts';
import { pagesOfSite, readWarnings } from './support/built-site.ts';

it('the build warns of nothing: no lost link, no type that a public name uses and no door exports', () => {
  expect(readWarnings()).toEqual([]);
});

it('has the home page, a page for each door, and the error codes', () => {
  const pages = pagesOfSite();
  const paths = doors.map((door) => `api/${door}.html`);
  expect(pages).toEqual(expect.arrayContaining(['index.html', 'docs/errors.html', ...paths]));
});
