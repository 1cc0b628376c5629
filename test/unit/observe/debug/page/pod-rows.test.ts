import { describe, expect, it } from 'vitest';
import { noFilter } from '../../../../../tools/page/src/model/pod-filter.ts';
import { PodRows } from '../../../../../tools/page/src/model/pod-rows.ts';
import { podRow } from '../../../../real/browser/debug-page/sample-pods.ts';

const pod = (name: string, changes: Parameters<typeof podRow>[1] = {}) =>
  podRow(0, { podUID: `uid-${name}`, namespace: 'ns', name, ...changes });

function rowsOf(...pods: ReturnType<typeof pod>[]): PodRows {
  const rows = new PodRows();
  rows.replaceAll(pods);
  return rows;
}

const namesOf = (rows: PodRows): string[] => rows.shown.map(({ name }) => name);

describe('PodRows', () => {
  it('shows pods by namespace and name', () => {
    const rows = rowsOf(pod('b'), pod('a'), pod('z', { namespace: 'early' }));
    expect(namesOf(rows)).toEqual(['z', 'a', 'b']);
  });

  it('shows pods in trouble first, the one first that has been so longest, and those alone where they are asked for', () => {
    const since = (at: number | undefined) => ({ problem: { kind: 'k', message: 'm', since: at, attempt: 1 } });
    const rows = rowsOf(pod('a'), pod('e', since(undefined)), pod('d', since(30)), pod('c', since(20)), pod('b'));
    expect(namesOf(rows)).toEqual(['c', 'd', 'e', 'a', 'b']);
    rows.apply([pod('b', since(10)), pod('c')], []);
    expect(namesOf(rows)).toEqual(['b', 'd', 'e', 'a', 'c']);
    rows.filterBy({ ...noFilter, trouble: true });
    expect(namesOf(rows)).toEqual(['b', 'd', 'e']);
    rows.filterBy(noFilter);
    rows.sortBy({ key: 'trouble', descending: true });
    expect(namesOf(rows)).toEqual(['a', 'c', 'e', 'd', 'b']);
  });

  it('puts in what is new, changes what is known, takes out what is removed', () => {
    const rows = rowsOf(pod('a'), pod('c'));
    rows.apply([pod('b'), pod('a', { restarts: 7 })], ['uid-c', 'uid-unknown']);
    expect(namesOf(rows)).toEqual(['a', 'b']);
    expect(rows.shown[0]?.restarts).toBe(7);
    expect([rows.size, rows.get('uid-a')?.restarts, rows.get('uid-c')]).toEqual([2, 7, undefined]);
  });

  it('lets a pod that was removed come back', () => {
    const rows = rowsOf(pod('a'), pod('b'));
    rows.apply([], ['uid-a']);
    expect(namesOf(rows)).toEqual(['b']);
    rows.apply([pod('a')], []);
    expect(namesOf(rows)).toEqual(['a', 'b']);
  });

  it('forgets everything when all is replaced', () => {
    const rows = rowsOf(pod('a'));
    rows.replaceAll([pod('b')]);
    expect([namesOf(rows), rows.size, rows.get('uid-a')]).toEqual([['b'], 1, undefined]);
  });

  it('moves a pod whose sorted value has changed, and leaves equal ones in the order of their names', () => {
    const rows = rowsOf(pod('a'), pod('b'), pod('c'));
    rows.sortBy({ key: 'restarts', descending: true });
    expect(namesOf(rows)).toEqual(['a', 'b', 'c']);
    rows.apply([pod('c', { restarts: 2 })], []);
    expect(namesOf(rows)).toEqual(['c', 'a', 'b']);
    rows.apply([pod('b', { restarts: 3 })], []);
    expect(namesOf(rows)).toEqual(['b', 'c', 'a']);
  });

  it.each([
    ['sync', ['quarantined', 'waits', 'synced']],
    ['changed', ['synced', 'waits', 'quarantined']],
    ['phase', ['waits', 'quarantined', 'synced']],
    ['ready', ['quarantined', 'synced', 'waits']],
    ['version', ['waits', 'synced', 'quarantined']],
  ] as const)('sorts by %s', (key, names) => {
    const rows = rowsOf(
      pod('synced', { changedAt: 30, version: 5, phase: 'Running', ready: true }),
      pod('waits', { sync: 'backing-off', changedAt: 20, version: 1, phase: 'Failed', ready: true }),
      pod('quarantined', { sync: 'quarantined', changedAt: 10, version: 9, phase: 'Pending', ready: false }),
    );
    rows.sortBy({ key, descending: false });
    expect(namesOf(rows)).toEqual(names);
  });

  it('shows what has every word of the filter in its namespace, name or UID, whatever the capitals', () => {
    const rows = rowsOf(pod('web-1'), pod('web-2', { namespace: 'shop' }), pod('api-1', { namespace: 'shop' }));
    const filtered = (text: string): string[] => {
      rows.filterBy({ ...noFilter, text });
      return namesOf(rows);
    };
    expect(filtered('WEB')).toEqual(['web-1', 'web-2']);
    expect(filtered(' shop  web ')).toEqual(['web-2']);
    expect(filtered('ns/web')).toEqual(['web-1']);
    expect(filtered('uid-api')).toEqual(['api-1']);
    expect(filtered('nothing')).toEqual([]);
    expect(filtered('')).toHaveLength(3);
  });

  it('shows the states and phases that are chosen; a pod without a phase has the phase none', () => {
    const rows = rowsOf(pod('a', { sync: 'pending' }), pod('b', { phase: undefined }), pod('c', { phase: 'Failed' }));
    rows.filterBy({ ...noFilter, sync: ['pending'] });
    expect(namesOf(rows)).toEqual(['a']);
    rows.filterBy({ ...noFilter, phase: ['none', 'Failed'] });
    expect(namesOf(rows)).toEqual(['b', 'c']);
    rows.filterBy({ ...noFilter, phase: ['Failed'], sync: ['pending'] });
    expect(namesOf(rows)).toEqual([]);
  });

  it('filters anew when a pod changes', () => {
    const rows = rowsOf(pod('a'), pod('b'));
    rows.filterBy({ ...noFilter, sync: ['pending'] });
    expect(namesOf(rows)).toEqual([]);
    rows.apply([pod('b', { sync: 'pending' })], []);
    expect(namesOf(rows)).toEqual(['b']);
  });

  it('gives the same array until something changes', () => {
    const rows = rowsOf(pod('a'));
    const { shown } = rows;
    rows.apply([], []);
    expect(rows.shown).toBe(shown);
    rows.apply([pod('a')], []);
    expect(rows.shown).not.toBe(shown);
  });
});
