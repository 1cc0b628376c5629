import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { ApiCopies, type ApiPod, apiPodOf, patchedApiPod } from '../../../../src/status/sync/api-copies.ts';
import { PodSourceView } from '../../../../src/status/sync/pod-source-view.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { deleting, testPod } from '../status-harness.ts';

const uid = '12345678';
const at = (resourceVersion: string, message: string): WirePod => testPod({ metadata: { resourceVersion }, status: { message } });
const messageOf = (copy: ApiPod | undefined): string | undefined => copy?.status.message;

describe('apiPodOf', () => {
  it('reads the parts of a pod that a sync needs', () => {
    const pod = testPod({ metadata: { resourceVersion: '7', generation: 3, ...deleting }, status: { phase: 'Running' } });
    const status = { phase: 'Running' };
    expect(apiPodOf(pod)).toEqual({
      uid,
      resourceVersion: '7',
      generation: 3,
      deleting: true,
      isMirrorPod: false,
      status,
      normalized: status,
    });
  });

  it('reads missing and empty members as unknown', () => {
    const unknown = { uid: '', resourceVersion: undefined, generation: undefined, deleting: false, isMirrorPod: false };
    expect(apiPodOf({})).toMatchObject(unknown);
    expect(apiPodOf({ metadata: { resourceVersion: '' } })).toMatchObject(unknown);
  });
});

describe('patchedApiPod', () => {
  it.each([
    ['neither before nor after', {}, {}, false],
    ['since before', deleting, {}, true],
    ['by now', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }, true],
    ['all along', deleting, { deletionTimestamp: '2026-01-01T00:00:00Z' }, true],
  ])('is deleting %s', (_, before, after, expected) => {
    const copy = apiPodOf(testPod({ metadata: before }));
    expect(patchedApiPod(copy, {}, { uid, resourceVersion: '8', ...after }).deleting).toBe(expected);
  });

  it('has the answer’s uid and resourceVersion, or the copy’s uid when the answer has none', () => {
    const copy = apiPodOf(at('7', 'old'));
    const status = { message: 'new' };
    expect(patchedApiPod(copy, status, { uid: 'u', resourceVersion: '8' })).toMatchObject({
      uid: 'u',
      resourceVersion: '8',
      status,
    });
    expect(patchedApiPod(copy, status, { uid: '', resourceVersion: '' })).toMatchObject({ uid, resourceVersion: undefined });
  });
});

/** API copies with a pod source whose last full list began at `listedAt`. */
function noCopies(clock = new FakeClock(), source: { listedAt?: number } = {}): ApiCopies {
  return new ApiCopies(clock, new PodSourceView({ lastObservedAt: () => undefined, lastListedAt: () => source.listedAt }, clock));
}

describe('ApiCopies.freshest', () => {
  it.each([
    ['9', '10', 'own'],
    ['10', '10', 'managed'],
    ['11', '10', 'managed'],
    ['no number', '10', 'managed'],
  ])('of the pod manager’s copy at %s and our own at %s is %s', (managed, own, expected) => {
    const copies = noCopies();
    copies.record(apiPodOf(at(own, 'own')));
    expect(messageOf(copies.freshest(uid, at(managed, 'managed')))).toBe(expected);
  });

  it('is our own when the pod manager has no copy, one without a resourceVersion, or another pod', () => {
    const copies = noCopies();
    copies.record(apiPodOf(at('10', 'own')));
    const another = testPod({ metadata: { uid: 'another', resourceVersion: '99' } });
    for (const managed of [undefined, {}, testPod(), another]) expect(messageOf(copies.freshest(uid, managed))).toBe('own');
    expect(noCopies().freshest(uid, testPod())).toBeUndefined();
  });

  it('forgets our own when the pod manager’s is as fresh, and after forget', () => {
    const copies = noCopies();
    copies.record(apiPodOf(at('10', 'own')));
    copies.freshest(uid, at('10', 'managed'));
    expect(copies.freshest(uid, undefined)).toBeUndefined();
    copies.record(apiPodOf(at('11', 'own')));
    copies.forget(uid);
    expect(copies.freshest(uid, undefined)).toBeUndefined();
  });

  it('is the pod manager’s, even with a smaller resourceVersion, after a newer full list', async () => {
    const clock = new FakeClock();
    const source: { listedAt?: number } = {};
    const copies = noCopies(clock, source);
    copies.record(apiPodOf(at('900', 'own')));
    const restored = at('50', 'restored');
    source.listedAt = clock.now() - 1;
    expect(messageOf(copies.freshest(uid, restored))).toBe('own');
    source.listedAt = clock.now();
    expect(messageOf(copies.freshest(uid, restored))).toBe('own');
    await clock.advance(1);
    source.listedAt = clock.now();
    expect(messageOf(copies.freshest(uid, restored))).toBe('restored');
    expect(copies.freshest(uid, undefined)).toBeUndefined();
  });

  it('is our own after the clock was set back: the last full list seems newer and is not', () => {
    const clock = new FakeClock();
    const source = { listedAt: clock.now() };
    const copies = noCopies(clock, source);
    clock.jump(-60_000);
    copies.record(apiPodOf(at('900', 'own')));
    expect(messageOf(copies.freshest(uid, at('50', 'managed')))).toBe('own');
    clock.jump(120_000);
    expect(messageOf(copies.freshest(uid, at('50', 'managed')))).toBe('own');
  });

  it('is our own when the clock was set back while a list was on its way that began before', () => {
    const clock = new FakeClock();
    const source: { listedAt?: number } = {};
    const copies = noCopies(clock, source);
    const startedAt = clock.now();
    clock.jump(-60_000);
    copies.record(apiPodOf(at('900', 'own')));
    source.listedAt = startedAt;
    expect(messageOf(copies.freshest(uid, at('50', 'managed')))).toBe('own');
  });

  it.each([
    -3_600_000, 3_600_000,
  ])('is the pod manager’s after a full list that began after the clock was set by %s ms', async (ms) => {
    const clock = new FakeClock();
    const source: { listedAt?: number } = { listedAt: clock.now() };
    const copies = noCopies(clock, source);
    copies.record(apiPodOf(at('900', 'own')));
    clock.jump(ms);
    expect(messageOf(copies.freshest(uid, at('50', 'older')))).toBe('own');
    await clock.advance(1_000);
    source.listedAt = clock.now();
    await clock.advance(100);
    expect(messageOf(copies.freshest(uid, at('50', 'restored')))).toBe('restored');
  });

  it('is our own after a list that began before our copy came and was delivered later, also when the clock was set forward', async () => {
    const clock = new FakeClock();
    const source: { listedAt?: number } = {};
    const copies = noCopies(clock, source);
    const beganAt = clock.now();
    await clock.advance(100);
    copies.record(apiPodOf(at('900', 'own')));
    clock.jump(3_600_000);
    source.listedAt = beganAt;
    expect(messageOf(copies.freshest(uid, at('50', 'managed')))).toBe('own');
  });

  it('keeps no copy without a resourceVersion, and drops the previous one', () => {
    const copies = noCopies();
    copies.record(apiPodOf(at('10', 'own')));
    copies.record(apiPodOf(testPod({ status: { message: 'unordered' } })));
    expect(copies.freshest(uid, undefined)).toBeUndefined();
  });

  it('reads each object of the pod manager once', () => {
    const copies = noCopies();
    const pod = at('10', 'managed');
    expect(copies.read(pod)).toBe(copies.read(pod));
    expect(copies.freshest(uid, pod)).toBe(copies.read(pod));
  });
});

describe('ApiCopies.isOwn', () => {
  it('recognises the resourceVersion that our own request left', () => {
    const copies = noCopies();
    expect(copies.isOwn(uid, at('10', 'm'))).toBe(false);
    copies.record(apiPodOf(at('10', 'own')));
    expect([at('10', 'm'), at('11', 'm'), testPod(), undefined].map((pod) => copies.isOwn(uid, pod))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
