import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DebugTimelineEntry } from '../../../../src/observe/debug/debug-api.ts';
import { PodHistory } from '../../../../src/observe/debug/pod-history.ts';
import { heldBytes } from '../../../support/held-bytes.ts';

const refused = (at: number, reason = 'r'): DebugTimelineEntry => ({ kind: 'refused', at, reason });
const timesOf = (history: PodHistory, podUID: string) => history.of(podUID)?.entries.map(({ at }) => at);

describe('PodHistory', () => {
  it('gives back what was put in, oldest first', () => {
    const history = new PodHistory({ entriesPerPod: 10, bytes: 10_000 });
    const entry: DebugTimelineEntry = {
      kind: 'set',
      at: 1,
      version: 3,
      changes: [{ path: '/a', element: undefined, before: undefined, after: { b: ['ä'] } }],
    };
    history.add('u', entry);
    history.add('u', refused(2));
    expect(history.of('u')).toEqual({
      entries: [{ kind: 'set', at: 1, version: 3, changes: [{ path: '/a', after: { b: ['ä'] } }] }, refused(2)],
      dropped: 0,
    });
    expect(history.of('other')).toBeUndefined();
  });

  it('is empty once it is cleared, and takes entries again', () => {
    const history = new PodHistory({ entriesPerPod: 2, bytes: 2_000 });
    for (const at of [1, 2]) history.add('u', refused(at));
    history.clear();
    expect([history.bytes, history.of('u')]).toEqual([0, undefined]);
    for (const at of [3, 4, 5]) history.add('v', refused(at));
    expect([timesOf(history, 'u'), timesOf(history, 'v')]).toEqual([undefined, [4, 5]]);
  });

  it('drops the oldest entries of a pod with many', () => {
    const history = new PodHistory({ entriesPerPod: 2, bytes: 10_000 });
    for (const at of [1, 2, 3, 4]) history.add('u', refused(at));
    history.add('v', refused(5));
    expect([timesOf(history, 'u'), history.of('u')?.dropped]).toEqual([[3, 4], 2]);
    expect(timesOf(history, 'v')).toEqual([5]);
  });

  it('drops the oldest entries of all pods when there are too many bytes', () => {
    const history = new PodHistory({ entriesPerPod: 10, bytes: 2_000 });
    history.add('a', refused(1));
    history.add('b', refused(2));
    history.add('a', refused(3));
    expect(history.bytes).toBeLessThanOrEqual(2_000);
    history.add('c', refused(4));
    expect(history.bytes).toBeLessThanOrEqual(2_000);
    expect([timesOf(history, 'a'), timesOf(history, 'b'), timesOf(history, 'c')]).toEqual([[3], undefined, [4]]);
    expect(history.of('a')?.dropped).toBe(1);
    history.add('d', refused(5, 'x'.repeat(120)));
    expect(history.bytes).toBeLessThanOrEqual(2_000);
    expect(['a', 'b', 'c', 'd'].map((podUID) => timesOf(history, podUID))).toEqual([undefined, undefined, [4], [5]]);
  });

  it.each([
    ['few pods with many entries', 100, 100],
    ['many pods with one entry each', 1, 100],
    ['pods with long entries', 10, 2_000],
  ])('counts at least what it holds: %s', (_, entriesOfPod, length) => {
    const kept: PodHistory[] = [];
    const held = heldBytes(() => {
      const history = new PodHistory({ entriesPerPod: 1_000, bytes: 1_000_000_000 });
      for (let at = 0; at < 20_000; at += 1) {
        history.add(
          `a-uid-as-long-as-those-of-pods-${Math.floor(at / entriesOfPod)}`,
          refused(at, String(at).padEnd(length, 'r')),
        );
      }
      kept.push(history);
    });
    expect(kept.at(-1)?.bytes).toBeGreaterThanOrEqual(held);
  });

  it('holds nothing for what was dropped, however long it goes on', () => {
    const history = new PodHistory({ entriesPerPod: 10, bytes: 1_000_000 });
    let at = 0;
    const goOn = (): void => {
      for (const last = at + 100_000; at < last; at += 1) history.add(`pod-${at % 20}`, refused(at));
    };
    expect(heldBytes(goOn)).toBeLessThan(1_000_000);
  });

  it('keeps of a huge entry that it was there, and how long it was', () => {
    const history = new PodHistory({ entriesPerPod: 10, bytes: 1_000_000 });
    const huge = 'x'.repeat(100_000);
    const ok = { durationMs: 0, bytes: 9, message: undefined } as const;
    history.add('u', { kind: 'request', at: 1, verb: 'patch', result: 'ok', body: { huge }, ...ok });
    history.add('u', { kind: 'set', at: 2, version: 1, changes: [{ path: '/m', before: undefined, after: huge }] });
    history.add('u', refused(3, huge));
    const note = expect.stringMatching(/^not kept: (?:1000\d\d|more than 32768) characters$/);
    expect(history.of('u')?.entries).toEqual([
      { kind: 'request', at: 1, verb: 'patch', result: 'ok', durationMs: 0, bytes: 9, body: note },
      { kind: 'set', at: 2, version: 1, changes: [{ path: '/m', before: note, after: note }] },
      { kind: 'refused', at: 3, reason: note },
    ]);
    expect(history.bytes).toBeLessThan(4_000);
  });

  it('keeps of an entry with many or long names no more than of any other', () => {
    const history = new PodHistory({ entriesPerPod: 10, bytes: 1_000_000 });
    const changes = (count: number, name: string) =>
      Array.from({ length: count }, (_, n) => ({ path: `/${n}/${name}`, element: name, before: n, after: n + 1 }));
    for (const name of ['x'.repeat(1_000), '\u0001'.repeat(1_000), 'x'.repeat(20)]) {
      history.add('u', { kind: 'set', at: 1, version: 1, changes: changes(500, name) });
    }
    expect(history.of('u')?.entries.map((entry) => entry.kind === 'set' && entry.changes.length)).toEqual([100, 0, 100]);
    for (const entry of history.of('u')?.entries ?? []) expect(JSON.stringify(entry).length).toBeLessThanOrEqual(32_768);
  });

  it('makes no text of changes that it does not keep', () => {
    const history = new PodHistory({ entriesPerPod: 10, bytes: 1_000_000 });
    let read = 0;
    const value = {
      toJSON() {
        read += 1;
        return 'x'.repeat(10_000);
      },
    };
    const changes = Array.from({ length: 1_000 }, () => ({ path: '/a', before: undefined, after: value }));
    history.add('u', { kind: 'set', at: 1, version: 1, changes });
    expect(read).toBeLessThan(10);
  });

  it('never has more than its limits, and always the newest entries', () => {
    const steps = fc.array(fc.record({ pod: fc.integer({ min: 0, max: 4 }), length: fc.integer({ min: 0, max: 300 }) }));
    const limits = fc.record({ entriesPerPod: fc.integer({ min: 0, max: 5 }), bytes: fc.integer({ min: 0, max: 3_000 }) });
    fc.assert(
      fc.property(steps, limits, (all, { entriesPerPod, bytes }) => {
        const history = new PodHistory({ entriesPerPod, bytes });
        const expected = new Map<string, number[]>();
        all.forEach(({ pod, length }, at) => {
          const podUID = `pod-${pod}`;
          history.add(podUID, refused(at, 'x'.repeat(length)));
          expected.set(podUID, [...(expected.get(podUID) ?? []), at]);
          expect(history.bytes).toBeLessThanOrEqual(bytes);
          let oldestKept = at + 1;
          for (const [uid, times] of expected) {
            const kept = timesOf(history, uid) ?? [];
            expect(kept.length).toBeLessThanOrEqual(entriesPerPod);
            expect(times.slice(times.length - kept.length)).toEqual(kept);
            oldestKept = Math.min(oldestKept, kept[0] ?? oldestKept);
          }
          // of all pods the oldest goes first: nothing newer than what is kept is missing, but for a pod with too many
          for (const [uid, times] of expected) {
            const due = times.filter((time) => time >= oldestKept).slice(-entriesPerPod || times.length);
            if (entriesPerPod > 0) expect(timesOf(history, uid) ?? []).toEqual(due);
          }
        });
      }),
    );
  });
});
