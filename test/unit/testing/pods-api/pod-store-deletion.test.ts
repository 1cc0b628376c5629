import { describe, expect, it } from 'vitest';
import { buildPod, type PodOverrides } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { PodStore } from '../../../../src/testing/pods-api/pod-store.ts';
import { refusal } from '../objects/refusal.ts';

const strategic = 'application/strategic-merge-patch+json';

/** A store at 2000-01-01T00:00:00Z with one pod, and the events from then on. */
function storeWith(overrides: PodOverrides = {}) {
  const clock = new FakeClock();
  const store = new PodStore({ clock });
  store.put(buildPod({ status: { phase: 'Running' }, ...overrides, metadata: { generation: 1, ...overrides.metadata } }));
  const events: string[] = [];
  store.watch(({ type, resourceVersion }) => events.push(`${type} ${resourceVersion}`));
  const metadata = () => store.get('default', 'pod-1').metadata;
  return { clock, store, events, metadata, remove: (request = {}) => store.delete('default', 'pod-1', request) };
}

describe('PodStore.delete', () => {
  it('gives a bound running pod 30 s, or the grace period of its spec', () => {
    const defaulted = new PodStore({ clock: new FakeClock() });
    defaulted.create(buildPod());
    const { pod, gone } = defaulted.delete('default', 'pod-1');
    expect(gone).toBe(false);
    expect(pod.metadata).toMatchObject({
      deletionTimestamp: '2000-01-01T00:00:30Z',
      deletionGracePeriodSeconds: 30,
      generation: 2,
    });
    const { remove } = storeWith({ spec: { terminationGracePeriodSeconds: 7 } });
    expect(remove().pod.metadata).toMatchObject({ deletionTimestamp: '2000-01-01T00:00:07Z', deletionGracePeriodSeconds: 7 });
  });

  it.each([
    ['an unbound pod', { spec: { nodeName: '' } }],
    ['a failed pod', { status: { phase: 'Failed' } }],
    ['a succeeded pod', { status: { phase: 'Succeeded' } }],
  ])('removes %s at once: first marked, then deleted', (_what, overrides) => {
    const { store, events, remove } = storeWith(overrides);
    expect(remove()).toMatchObject({ gone: true, pod: { metadata: { deletionGracePeriodSeconds: 0, resourceVersion: '3' } } });
    expect(events).toEqual(['MODIFIED 2', 'DELETED 3']);
    expect(store.list()).toEqual([]);
  });

  it('removes a running pod at once with grace period 0', () => {
    const { store, remove } = storeWith();
    expect(remove({ gracePeriodSeconds: 0 }).gone).toBe(true);
    expect(refusal(() => store.get('default', 'pod-1')).code).toBe(404);
  });

  it('keeps a pod with finalizers, with deletionTimestamp set, until the last finalizer is removed', () => {
    const { store, events, metadata, remove } = storeWith({ metadata: { finalizers: ['x.io/a', 'x.io/b'] } });
    expect(remove({ gracePeriodSeconds: 0 }).gone).toBe(false);
    expect(metadata()).toMatchObject({ deletionTimestamp: '2000-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 });
    expect(remove({ gracePeriodSeconds: 0 }).gone).toBe(false);
    store.patch('default', 'pod-1', { type: strategic, body: { status: { phase: 'Failed' } }, subresource: 'status' });
    store.patch('default', 'pod-1', {
      type: strategic,
      body: { metadata: { '$deleteFromPrimitiveList/finalizers': ['x.io/a'] } },
    });
    expect(metadata()?.finalizers).toEqual(['x.io/b']);
    const answer = store.patch('default', 'pod-1', {
      type: strategic,
      body: { metadata: { finalizers: null, labels: { a: '1' } } },
    });
    expect(answer.metadata).toMatchObject({ labels: { a: '1' }, resourceVersion: '4' });
    expect(store.list()).toEqual([]);
    expect(events).toEqual(['MODIFIED 2', 'MODIFIED 3', 'MODIFIED 4', 'DELETED 5']);
  });

  it('keeps a pod whose grace period still runs when its finalizers are removed', () => {
    const { store, metadata, remove } = storeWith({ metadata: { finalizers: ['x.io/a'] } });
    remove({ gracePeriodSeconds: 5 });
    store.patch('default', 'pod-1', { type: strategic, body: { metadata: { finalizers: null } } });
    expect(metadata()).toMatchObject({ deletionGracePeriodSeconds: 5 });
    expect(remove({ gracePeriodSeconds: 0 }).gone).toBe(true);
  });

  it('refuses a new finalizer on a pod that is being deleted', () => {
    const { store, remove } = storeWith();
    remove();
    const body = { metadata: { finalizers: ['x.io/late'] } };
    expect(refusal(() => store.patch('default', 'pod-1', { type: strategic, body })).message).toContain(
      'no new finalizers can be added',
    );
  });

  it('shortens a grace period, but never makes it longer', () => {
    const { events, metadata, remove } = storeWith();
    remove({ gracePeriodSeconds: 60 });
    remove({ gracePeriodSeconds: 100 });
    remove();
    expect(metadata()).toMatchObject({
      deletionTimestamp: '2000-01-01T00:01:00Z',
      deletionGracePeriodSeconds: 60,
      generation: 2,
    });
    remove({ gracePeriodSeconds: 20 });
    expect(metadata()).toMatchObject({
      deletionTimestamp: '2000-01-01T00:00:20Z',
      deletionGracePeriodSeconds: 20,
      generation: 2,
    });
    expect(events).toEqual(['MODIFIED 2', 'MODIFIED 3']);
  });

  it('does not shorten a grace period into the past', async () => {
    const { clock, metadata, remove } = storeWith();
    remove({ gracePeriodSeconds: 60 });
    await clock.advance(30_000);
    remove({ gracePeriodSeconds: 10 });
    expect(metadata()).toMatchObject({ deletionTimestamp: '2000-01-01T00:00:30Z', deletionGracePeriodSeconds: 1 });
  });

  it('keeps a deleting pod until a DELETE with grace period 0, even when it is terminal', () => {
    const { store, remove } = storeWith();
    remove();
    store.patch('default', 'pod-1', { type: strategic, body: { status: { phase: 'Failed' } }, subresource: 'status' });
    expect(remove().gone).toBe(false);
    expect(remove({ gracePeriodSeconds: 0 }).gone).toBe(true);
  });

  it('refuses a wrong uid or resourceVersion precondition with 409 Conflict', () => {
    const { store, remove } = storeWith();
    expect(refusal(() => remove({ gracePeriodSeconds: 0, preconditions: { uid: 'other' } }))).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on Pod "pod-1": the UID in the precondition (other) does not match the UID in record (uid-of-pod-1). The object might have been deleted and then recreated',
    });
    expect(refusal(() => remove({ preconditions: { resourceVersion: '77' } })).code).toBe(409);
    expect(store.list()).toHaveLength(1);
    expect(remove({ gracePeriodSeconds: 0, preconditions: { uid: 'uid-of-pod-1', resourceVersion: '1' } }).gone).toBe(true);
  });

  it('answers 404 for a pod that does not exist', () => {
    expect(refusal(() => new PodStore().delete('default', 'a')).code).toBe(404);
  });

  it('keeps deletion times whatever a client writes', () => {
    const { store, metadata, remove } = storeWith();
    remove();
    store.patch('default', 'pod-1', { type: strategic, body: { metadata: { deletionTimestamp: null } } });
    store.patch('default', 'pod-1', { type: strategic, body: { metadata: { deletionTimestamp: null } }, subresource: 'status' });
    expect(metadata()).toMatchObject({ deletionTimestamp: '2000-01-01T00:00:30Z' });
  });
});
