import { expect, it } from 'vitest';
import { lostLinks } from './support/lost-links.ts';

it('finds lost pages and lost places, and no other link', () => {
  const site = 'http://127.0.0.1:1/';
  const page = (path: string, ids: string[], ...links: string[]) => ({
    path,
    ids,
    links: links.map((link) => new URL(link, site).href),
  });
  const pages = [
    page(
      'index.html',
      ['top'],
      '#top',
      '/',
      'docs/a.html',
      'docs/a.html#one',
      'https://kubernetes.io/',
      'docs/b.html',
      'docs/a.html#two',
      'media/a.json',
      'media/b.json',
    ),
    page('docs/a.html', ['one'], '../index.html#top', 'http://127.0.0.1:2/', 'file:///x'),
  ];
  expect(lostLinks(site, pages, new Set(['media/a.json']))).toEqual([
    'index.html: docs/b.html',
    'index.html: docs/a.html#two',
    'index.html: media/b.json',
    'docs/a.html: http://127.0.0.1:2/',
    'docs/a.html: file:///x',
  ]);
});
