import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { headingsOf } from '../../../tools/site/markdown.ts';
import { siteFolder } from './support/built-site.ts';
import { siteSearch } from './support/site-search.ts';

const search = siteSearch();
/** Those pages of which one has to come first; the page about all situations counts wherever it is there. */
const first = (...pages: string[]) =>
  expect.toSatisfy((url: string) => [...pages, 'docs/when-something-is-wrong.html'].includes(url));

describe('the search of the site', () => {
  it.each([
    ['kubectl logs', 'guides/node-agent.html'],
    ['kubectl exec', 'guides/node-agent.html'],
    ['stuck', 'guides/embed-the-status-manager.html'],
    ['403', 'guides/rights.html', 'guides/logs-and-errors.html'],
    ['forbidden', 'guides/rights.html', 'guides/logs-and-errors.html'],
    ['metrics', 'docs/metrics.html'],
  ])('for %j finds a page about it first', (text, ...pages) => {
    expect(search(text)[0]).toEqual(first(...pages));
  });

  it.each([
    ['403', 'guides/rights.html'],
    ['stuck', 'guides/deletion.html'],
    ['Terminating', 'guides/deletion.html'],
    ['restart', 'guides/restarts.html'],
    ['quarantined', 'api/PodSyncPhase.html'],
  ])('for %j finds %s among the ten that it shows', (text, page) => {
    expect(search(text)).toContain(page);
  });

  it.each([
    ['setPodStatus', 'api/StatusManager.html#setpodstatus'],
    ['PodStatusAgent', 'api/PodStatusAgent.html'],
  ])('for the name %s finds the reference first', (text, page) => {
    expect(search(text)[0]).toBe(page);
  });

  it('finds no file of measurements, and no page that is not there', () => {
    const found = ['setPodStatus', 'kubelet', 'p50', 'cluster'].flatMap(search);
    expect(found.filter((url) => url.startsWith('bench/'))).toEqual([]);
    expect(found.filter((url) => !existsSync(join(siteFolder, url.split('#')[0] ?? '')))).toEqual([]);
  });
});

describe('headingsOf', () => {
  it('gives every heading without its marks, and no comment of a fence', () => {
    expect(headingsOf('# A `b`\n\ntext\n\n```sh\n# no heading\n```\n\n### *C*\n')).toBe('A b\nC');
  });
});
