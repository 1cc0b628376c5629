import { beforeEach, describe, expect, it } from 'vitest';
import { emptyStatus } from '../../../../src/kubelet/pleg/agent-status.ts';
import { KnownPods } from '../../../../src/kubelet/pleg/known-pods.ts';
import { type ListedPod, newestFirst } from '../../../../src/kubelet/pleg/listed-pods.ts';
import { type PodReading, ReadTimes } from '../../../../src/kubelet/pleg/pod-reader.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

function listed(fingerprint: string): ListedPod {
  return { uid: 'a', name: 'pod-a', namespace: 'default', sandboxes: [], containers: [], fingerprint };
}

function reading(fingerprint: string | undefined): PodReading {
  const status = { ...emptyStatus('a'), name: fingerprint ?? 'gone' };
  return {
    status,
    listed: fingerprint === undefined ? undefined : listed(fingerprint),
    ended: new Map(),
    sandboxes: new Map(),
  };
}

const nothing = { changed: [], gone: [] };
let times: ReadTimes;
let known: KnownPods;
beforeEach(() => {
  times = new ReadTimes(new FakeClock());
  known = new KnownPods(times);
});

describe('a list that began before a read', () => {
  it('tells nothing of that pod', () => {
    const began = times.begin();
    known.take('a', reading('new'), times.begin());
    expect(known.compare(new Map([['a', listed('old')]]), began)).toEqual(nothing);
    expect(known.compare(new Map(), began)).toEqual(nothing);
    expect(known.get('a')?.name).toBe('new');
  });

  it('brings back no pod that the read found gone', () => {
    const began = times.begin();
    known.take('a', reading(undefined), times.begin());
    expect(known.compare(new Map([['a', listed('old')]]), began)).toEqual(nothing);
    expect(known.existing()).toEqual([]);
  });

  it('gives no reading that takes the place of the newer one', () => {
    const began = times.begin();
    expect(known.take('a', reading('new'), times.begin())).toBe(true);
    expect(known.take('a', reading('old'), began)).toBe(false);
    expect(known.get('a')?.name).toBe('new');
  });
});

describe('a list that began after a read', () => {
  it('tells what has changed, and what is gone', () => {
    known.take('a', reading('old'), times.begin());
    expect(known.compare(new Map([['a', listed('old')]]), times.begin())).toEqual(nothing);
    expect(known.compare(new Map([['a', listed('new')]]), times.begin())).toEqual({ changed: [listed('new')], gone: [] });
    expect(known.compare(new Map(), times.begin())).toEqual({ changed: [], gone: ['a'] });
    expect(known.compare(new Map(), times.begin())).toEqual(nothing);
  });

  it('tells of a pod that went before it could be read', () => {
    known.compare(new Map([['a', listed('new')]]), times.begin());
    expect(known.existing()).toEqual([listed('new')]);
    expect(known.compare(new Map(), times.begin())).toEqual({ changed: [], gone: ['a'] });
    expect(known.existing()).toEqual([]);
  });
});

describe('the newest', () => {
  const made = (id: string, createdAt: number, attempt: number) => ({ id, createdAt, metadata: { name: 'app', attempt } });

  it('is what was made last, by time, then by attempt', () => {
    const all = [made('a', 1, 0), made('b', 2, 1), made('c', 2, 2), made('d', 3, 0)];
    expect(all.toSorted(newestFirst).map(({ id }) => id)).toEqual(['d', 'c', 'b', 'a']);
    expect([made('z', 1, 0), made('y', 1, 0)].toSorted(newestFirst).map(({ id }) => id)).toEqual(['y', 'z']);
  });
});
