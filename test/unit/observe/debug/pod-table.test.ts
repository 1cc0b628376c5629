import { describe, expect, it } from 'vitest';
import { PodTable } from '../../../../src/observe/debug/pod-table.ts';
import type { PodSnapshot } from '../../../../src/status/sync/snapshot.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { heldBytes } from '../../../support/held-bytes.ts';
import { Harness, numberedPod, settle } from '../../status/status-harness.ts';

/** A table over a manager whose snapshots are counted: how many pods each had. */
function tableOf(h: Harness): { table: PodTable; asked: number[] } {
  const asked: number[] = [];
  const snapshot: Harness['manager']['snapshot'] = (options) => {
    const taken = h.manager.snapshot(options);
    asked.push(taken.pods.length);
    return taken;
  };
  return { table: new PodTable({ snapshot }, h.clock), asked };
}

const settledPod = (podUID: string): PodSnapshot => ({
  podUID,
  name: podUID,
  namespace: 'default',
  phase: 'in-sync',
  podPhase: 'Running',
  problem: undefined,
  ready: true,
  restarts: 0,
  version: 1,
  acknowledgedVersion: 1,
  changedAt: 0,
  unsentSince: undefined,
  attempt: 0,
  lastError: undefined,
  retryAt: undefined,
  isStatic: false,
  isDeleting: false,
  isFinished: false,
});
/** A table over pods of which the test says which there are. `asked`: how many uids each look asked for; Infinity where it asked for all. */
function tableOfPods(): { table: PodTable; asked: number[]; pods: Map<string, PodSnapshot> } {
  const asked: number[] = [];
  const pods = new Map<string, PodSnapshot>();
  const snapshot: Harness['manager']['snapshot'] = ({ podUIDs } = {}) => {
    asked.push(podUIDs === undefined ? Number.POSITIVE_INFINITY : [...podUIDs].length);
    const listed = Array.from(podUIDs ?? pods.keys(), (podUID) => pods.get(podUID)).filter((pod) => pod !== undefined);
    const head = { at: 0, state: 'running', podCount: pods.size, inFlight: 0, pausedUntil: undefined } as const;
    const well = { problems: [], problemCount: 0, notes: [] };
    return { ...head, ...well, channel: { depth: 0, capacity: 0, dropped: 0 }, pods: listed };
  };
  const table = new PodTable({ snapshot }, new FakeClock());
  return { table, asked, pods };
}
const uids = (rows: readonly { readonly podUID: string }[]) => rows.map(({ podUID }) => podUID).sort();

describe('PodTable', () => {
  it('reads what was touched, and tells of a change once', () => {
    const h = new Harness({ started: false });
    const { table } = tableOf(h);
    table.follow();
    for (const n of [1, 2, 3]) h.manager.setPodStatus(numberedPod(n), {});
    table.readAll();
    expect(uids(table.takeChanges().changed)).toEqual(['uid-1', 'uid-2', 'uid-3']);
    table.readAll();
    expect(table.takeChanges()).toEqual({ changed: [], removed: [] });
    h.manager.setPodStatus(numberedPod(2), { message: 'm' });
    table.touch('uid-2');
    table.readSome();
    expect(uids(table.takeChanges().changed)).toEqual(['uid-2']);
    expect(table.get('uid-2')).toMatchObject({ version: 2 });
  });

  it('reads a share of the settled rows at each look, and all of them in twenty looks', () => {
    const { table, asked, pods } = tableOfPods();
    for (let n = 0; n < 12_000; n++) pods.set(`uid-${n}`, settledPod(`uid-${n}`));
    table.follow();
    table.readAll();
    table.takeChanges();
    for (const phase of ['gone', 'deleting'] as const) {
      // nothing tells the table of this
      for (const [podUID, pod] of pods) pods.set(podUID, { ...pod, phase });
      const seen = new Set<string>();
      for (let look = 0; look < 21; look++) {
        table.readSome();
        for (const { podUID, sync } of table.takeChanges().changed) if (sync === phase) seen.add(podUID);
      }
      expect(seen.size).toBe(12_000);
    }
    expect(Math.max(...asked.slice(1))).toBe(600);
    // one that no share of the next looks has
    pods.delete('uid-11000');
    table.readSome();
    expect(table.takeChanges().removed).toEqual(['uid-11000']);
  });

  it('tells of a problem that comes, changes and goes, and not of one that is the same', () => {
    const { table, pods } = tableOfPods();
    const problem = { kind: 'forbidden', message: 'no right', since: 1, attempt: 1, podUID: 'a', podNamespace: '', podName: 'a' };
    const told = (change: Partial<typeof problem> | undefined) => {
      pods.set('a', { ...settledPod('a'), problem: change && { ...problem, ...change } });
      table.readAll();
      return table.takeChanges().changed.map((row) => row.problem?.attempt);
    };
    table.follow();
    expect([told(undefined), told({}), told({}), told({ attempt: 2 }), told({ attempt: 2 })]).toEqual([
      [undefined],
      [1],
      [],
      [2],
      [],
    ]);
    expect(table.get('a')?.problem).toEqual({ kind: 'forbidden', message: 'no right', since: 1, attempt: 2 });
    const seen: string[] = [];
    table.counts(({ podUID }) => seen.push(podUID));
    expect([seen, told(undefined)]).toEqual([['a'], [undefined]]);
  });

  it('tells of no time that moves by less than a second, and counts from what was told', () => {
    const { table, pods } = tableOfPods();
    const names = { podUID: 'a', podNamespace: '', podName: 'a' };
    const told = (since: number, retryAt: number | undefined) => {
      const problem = { kind: 'forbidden', message: 'no right', since, attempt: 1, retryAt, ...names };
      pods.set('a', { ...settledPod('a'), problem });
      table.readAll();
      return table.takeChanges().changed.map((row) => row.problem?.retryAt ?? 'never');
    };
    table.follow();
    expect([told(5_000, 8_000), told(5_900, 8_400), told(4_100, 7_100), told(5_000, 8_999)]).toEqual([[8_000], [], [], []]);
    expect([told(5_000, 9_000), told(6_000, 9_000), told(6_000, undefined)]).toEqual([[9_000], [9_000], ['never']]);
  });

  it('reads all rows of pods on their way at each look, as long as they are not too many', async () => {
    const h = new Harness({ started: false });
    for (let n = 0; n < 2_500; n++) h.manager.setPodStatus(h.publish(numberedPod(n)), {});
    const { table, asked } = tableOf(h);
    table.readAll();
    expect(table.counts()).toMatchObject({ bySync: { 'not-started': 2_500 }, oldestUnsentMs: 0 });
    table.readSome();
    expect(asked[1]).toBeLessThanOrEqual(1_500);
    h.manager.start();
    await h.manager.flush();
    await settle();
    for (let look = 0; look < 4; look++) table.readSome();
    expect(table.counts()).toEqual({ bySync: { 'in-sync': 2_500 }, byPhase: { none: 2_500 }, oldestUnsentMs: undefined });
  });

  it.each([
    -3_600_000, 3_600_000,
  ])('says how long the oldest change waits, also when the wall clock is set by %s ms', async (ms) => {
    const h = new Harness({ started: false });
    const { table } = tableOf(h);
    h.manager.setPodStatus(numberedPod(1), {});
    await h.clock.advance(2_000);
    h.manager.setPodStatus(numberedPod(2), {});
    table.readAll();
    h.clock.jump(ms);
    await h.clock.advance(1_000);
    table.readSome();
    expect(table.counts().oldestUnsentMs).toBe(3_000);
    h.manager.setPodStatus(numberedPod(1), { message: 'newer' });
    table.touch('uid-1');
    table.readSome();
    expect(table.counts().oldestUnsentMs).toBe(3_000);
  });

  it('finds at once that pods were dropped, and tells of no change and a removal of one pod', () => {
    const h = new Harness({ started: false });
    const { table } = tableOf(h);
    table.follow();
    for (const n of [1, 2, 3]) h.manager.setPodStatus(numberedPod(n), {});
    table.readAll();
    h.manager.removeOrphanedStatuses(new Set(['uid-3']));
    table.readSome();
    expect(table.takeChanges()).toMatchObject({ changed: [{ podUID: 'uid-3' }], removed: ['uid-1', 'uid-2'] });
    h.manager.setPodStatus(numberedPod(1), {});
    table.touch('uid-1');
    table.readSome();
    expect(table.takeChanges()).toMatchObject({ changed: [{ podUID: 'uid-1', version: 1 }], removed: [] });
    expect(uids(table.rows())).toEqual(['uid-1', 'uid-3']);
  });

  it('keeps nothing of what was touched while nobody follows', () => {
    const { table, asked } = tableOfPods();
    for (let n = 0; n < 1_000; n++) table.touch(`gone-${n}`);
    table.readSome();
    expect(asked).toEqual([0]);
  });

  it('keeps nothing of what was changed and removed while nobody follows', () => {
    const { table, pods } = tableOfPods();
    for (let n = 0; n < 10; n++) {
      pods.clear();
      pods.set(`uid-${n}`, settledPod(`uid-${n}`));
      table.readAll();
    }
    expect(table.takeChanges()).toEqual({ changed: [], removed: [] });
  });

  it('holds nothing of pods that are gone, however many came and went', () => {
    const { table, pods } = tableOfPods();
    let n = 0;
    const comeAndGo = (): void => {
      for (const last = n + 50_000; n < last; ) {
        pods.clear();
        for (let count = 0; count < 100; count += 1, n += 1)
          pods.set(`uid-${n}`, { ...settledPod(`uid-${n}`), phase: 'pending' });
        table.readAll();
      }
    };
    expect(heldBytes(comeAndGo)).toBeLessThan(200_000);
  });

  it('forgets what was not told when nobody follows any more', () => {
    const { table, asked, pods } = tableOfPods();
    table.follow();
    pods.set('uid-1', settledPod('uid-1'));
    table.readAll();
    pods.clear();
    pods.set('uid-2', settledPod('uid-2'));
    table.readAll();
    table.touch('uid-3');
    table.unfollow();
    expect(table.takeChanges()).toEqual({ changed: [], removed: [] });
    asked.length = 0;
    table.readSome();
    expect(asked).toEqual([1]);
  });
});
