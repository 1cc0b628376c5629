import { describe, expect, it } from 'vitest';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { PodStore } from '../../../../src/testing/pods-api/pod-store.ts';
import { refusal } from '../objects/refusal.ts';

const named = (name: string, phase = 'Pending') => buildPod({ metadata: { name }, status: { phase } });

describe('PodStore.restore', () => {
  it('brings back the pods of a snapshot, and loses later writes', () => {
    const store = new PodStore();
    const [kept, changed] = [store.put(named('kept')), store.put(named('changed'))];
    const deleted = store.put(named('deleted'));
    const snapshot = store.snapshot();
    store.put(named('changed', 'Running'));
    store.remove('default', 'deleted');
    store.put(named('made'));
    store.restore(snapshot);
    expect(store.list()).toEqual([changed, deleted, kept]);
    expect(store.get('default', 'changed').status?.phase).toBe('Pending');
    expect(() => store.get('default', 'made')).toThrow('not found');
  });

  it('uses the resourceVersions after the snapshot a second time', () => {
    const store = new PodStore();
    store.put(named('a'));
    const snapshot = store.snapshot();
    expect(store.put(named('a', 'Running')).metadata?.resourceVersion).toBe('2');
    store.restore(snapshot);
    expect(store.resourceVersion).toBe('1');
    expect(store.put(named('a', 'Failed')).metadata?.resourceVersion).toBe('2');
  });

  it('cuts every watch once, and forgets every event', () => {
    const store = new PodStore();
    store.put(named('a'));
    const snapshot = store.snapshot();
    const seen: string[] = [];
    store.watch(
      ({ type }) => seen.push(type),
      () => seen.push('cut'),
    );
    store.watch(({ type }) => seen.push(type));
    const stop = store.watch(
      () => {},
      () => seen.push('stopped'),
    );
    stop();
    store.put(named('b'));
    store.restore(snapshot);
    store.restore(snapshot);
    store.put(named('c'));
    expect(seen).toEqual(['ADDED', 'ADDED', 'cut']);
    expect(store.eventsSince('1').map(({ object }) => object.metadata?.name)).toEqual(['c']);
    expect(refusal(() => store.eventsSince('0')).code).toBe(410);
  });

  it('can restore the same snapshot again, also in another store', () => {
    const store = new PodStore();
    store.put(named('a'));
    const snapshot = store.snapshot();
    for (const subject of [store, store, new PodStore()]) {
      subject.restore(snapshot);
      expect(subject.list()).toEqual(snapshot.pods);
      subject.put(named('a', 'Running'));
    }
    expect(snapshot.pods[0]?.status?.phase).toBe('Pending');
  });
});
