import { describe, expect, it } from 'vitest';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { type PodEvent, PodStore } from '../../../../src/testing/pods-api/pod-store.ts';
import { refusal } from '../objects/refusal.ts';

const strategic = 'application/strategic-merge-patch+json';

/** Collects the events of a store from now on, as `TYPE name`. */
function record(store: PodStore): PodEvent[] {
  const events: PodEvent[] = [];
  store.watch((event) => events.push(event));
  return events;
}

const shape = (events: readonly PodEvent[]): string[] => events.map(({ type, object }) => `${type} ${object.metadata?.name}`);

describe('PodStore.create', () => {
  it('sets uid, creation time, generation 1, phase Pending and a QoS class, whatever the client sent', () => {
    const store = new PodStore({ clock: new FakeClock() });
    const pod = store.create({
      ...buildPod(),
      metadata: { name: 'a', uid: 'mine', generation: 9 },
      status: { phase: 'Running' },
    });
    expect(pod.metadata).toMatchObject({
      namespace: 'default',
      creationTimestamp: '2000-01-01T00:00:00Z',
      generation: 1,
      resourceVersion: '1',
    });
    expect(pod.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(pod.status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
  });

  it("fills in the API's defaults", () => {
    const pod = new PodStore().create({ metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    expect(pod.spec).toMatchObject({
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      containers: [{ imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }],
    });
  });

  it('makes a name from generateName', () => {
    const pod = new PodStore().create(buildPod({ metadata: { name: '', generateName: 'job-' } }));
    expect(pod.metadata?.name).toMatch(/^job-[0-9a-f]{5}$/);
  });

  it('refuses the name of an existing pod with 409 AlreadyExists', () => {
    const store = new PodStore();
    store.create(buildPod());
    expect(refusal(() => store.create(buildPod()))).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'pods "pod-1" already exists',
      details: { name: 'pod-1', kind: 'pods' },
    });
  });

  it('refuses a pod without containers, without a name, or with an unknown restart policy with 422', () => {
    const store = new PodStore();
    const pod = buildPod({ metadata: { name: 'BAD_' }, spec: { containers: [], restartPolicy: 'Sometimes' } });
    const causes = refusal(() => store.create(pod)).details?.causes ?? [];
    expect(causes.map(({ field }) => field)).toEqual(['metadata.name', 'spec.containers', 'spec.restartPolicy']);
    expect(refusal(() => store.create(buildPod({ metadata: { name: '' } })))).toMatchObject({
      code: 422,
      message: 'Pod "" is invalid: metadata.name: Required value: name or generateName is required',
    });
  });

  it('accepts any object with a name when it does not validate', () => {
    const store = new PodStore({ validate: false, fillIns: false });
    expect(store.create({ metadata: { name: 'bare', uid: 'u' } })).toEqual({
      metadata: { name: 'bare', namespace: 'default', uid: 'u', resourceVersion: '1' },
    });
    expect(refusal(() => store.create({ metadata: {} })).code).toBe(400);
  });
});

describe('PodStore.get and list', () => {
  it('answers 404 NotFound for a pod that does not exist', () => {
    expect(refusal(() => new PodStore().get('default', 'a'))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'pods "a" not found',
      reason: 'NotFound',
      details: { name: 'a', kind: 'pods' },
      code: 404,
    });
  });

  it('stores a copy of a given pod, and returns frozen pods', () => {
    const store = new PodStore();
    const pod = buildPod();
    store.put(pod);
    pod.status = { phase: 'Changed' };
    const stored = store.get('default', 'pod-1');
    expect(stored.status?.phase).toBe('Pending');
    expect(Object.isFrozen(stored.spec?.containers[0])).toBe(true);
  });

  it('selects by namespace, by field and by label', () => {
    const store = new PodStore();
    store.put(buildPod({ metadata: { name: 'a', labels: { app: 'x', tier: 'db' } }, status: { phase: 'Running' } }));
    store.put(buildPod({ metadata: { name: 'b', labels: { app: 'y' } }, spec: { nodeName: 'node-2' } }));
    store.put(buildPod({ metadata: { name: 'c', namespace: 'other' } }));
    const names = (selection: object) => store.list(selection).map(({ metadata }) => metadata?.name);
    expect(names({})).toEqual(['a', 'b', 'c']);
    expect(names({ namespace: 'default' })).toEqual(['a', 'b']);
    expect(names({ fieldSelector: 'spec.nodeName=node-1' })).toEqual(['a', 'c']);
    expect(names({ fieldSelector: 'metadata.name==a,status.phase!=Pending' })).toEqual(['a']);
    expect(names({ fieldSelector: 'metadata.namespace=other' })).toEqual(['c']);
    expect(names({ labelSelector: 'app=x' })).toEqual(['a']);
    expect(names({ labelSelector: 'app!=x' })).toEqual(['b', 'c']);
    expect(names({ labelSelector: 'app in (x, y),!tier' })).toEqual(['b']);
    expect(names({ labelSelector: 'tier' })).toEqual(['a']);
    expect(names({ labelSelector: 'app notin (x)' })).toEqual(['b', 'c']);
  });

  it('refuses a field selector that the API does not know with 400', () => {
    const store = new PodStore();
    expect(refusal(() => store.list({ fieldSelector: 'spec.foo=1' }))).toMatchObject({
      code: 400,
      message: 'field label not supported: spec.foo',
    });
    expect(refusal(() => store.list({ fieldSelector: 'nonsense' })).code).toBe(400);
    expect(refusal(() => store.list({ labelSelector: 'a b c' })).code).toBe(400);
  });
});

describe('PodStore.update', () => {
  it('ignores the status, and gives a changed spec a new generation', () => {
    const store = new PodStore();
    const pod = structuredClone(store.create(buildPod()));
    if (pod.spec?.containers[0] !== undefined) pod.spec.containers[0].image = 'other:1';
    const updated = store.update({ ...pod, status: { phase: 'Failed' } });
    expect(updated.status?.phase).toBe('Pending');
    expect(updated.metadata).toMatchObject({ generation: 2, resourceVersion: '2' });
  });

  it('refuses a stale resourceVersion with 409, and accepts an update without one', () => {
    const store = new PodStore();
    const pod = store.create(buildPod());
    store.update({ ...pod, metadata: { ...pod.metadata, labels: { a: '1' } } });
    const stale = { ...pod, metadata: { ...pod.metadata, labels: { a: '2' } } };
    expect(refusal(() => store.update(stale))).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on pods "pod-1": the object has been modified; please apply your changes to the latest version and try again',
    });
    const { resourceVersion: _stale, ...metadata } = stale.metadata;
    expect(store.update({ ...stale, metadata }).metadata?.labels).toEqual({ a: '2' });
  });

  it("refuses another pod's uid with 409, as a kube-apiserver refuses a PUT", () => {
    const store = new PodStore();
    const pod = store.create(buildPod());
    const body = refusal(() => store.update({ ...pod, metadata: { ...pod.metadata, uid: 'other' } }));
    expect(body).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(body.message).toContain('Precondition failed: UID in precondition: other');
  });

  it('refuses to change an immutable part of the spec with 422', () => {
    const store = new PodStore();
    const pod = store.create(buildPod());
    const body = refusal(() => store.update({ ...pod, spec: { ...pod.spec, nodeName: 'elsewhere' } }));
    expect(body).toMatchObject({ code: 422, details: { causes: [{ reason: 'FieldValueForbidden', field: 'spec' }] } });
  });

  it('refuses to add or change the mirror annotation', () => {
    const store = new PodStore();
    store.create(buildPod());
    const body = { metadata: { annotations: { 'kubernetes.io/config.mirror': 'h' } } };
    expect(refusal(() => store.patch('default', 'pod-1', { type: strategic, body })).message).toContain(
      'may not add mirror pod annotation',
    );
  });

  it('writes through updateStatus only status, labels, annotations and finalizers', () => {
    const store = new PodStore();
    const pod = store.create(buildPod());
    const updated = store.updateStatus({
      ...pod,
      metadata: {
        ...pod.metadata,
        labels: { a: '1' },
        ownerReferences: [{ kind: 'Node' }],
        generation: 7,
        creationTimestamp: '1999-01-01T00:00:00Z',
      },
      spec: { nodeName: 'elsewhere' },
      status: { ...pod.status, phase: 'Running' },
    });
    expect(updated.status?.phase).toBe('Running');
    expect(updated.spec).toEqual(pod.spec);
    expect(updated.metadata).toEqual({ ...pod.metadata, labels: { a: '1' }, resourceVersion: '2' });
  });
});

describe('PodStore.bind', () => {
  it('binds the pod to its node once, and sets the condition PodScheduled', () => {
    const store = new PodStore({ clock: new FakeClock() });
    store.create({ metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const bound = store.bind('default', 'a', 'node-9');
    expect(bound.spec?.nodeName).toBe('node-9');
    expect(bound.status?.conditions).toMatchObject([
      { type: 'PodScheduled', status: 'True', lastTransitionTime: '2000-01-01T00:00:00Z' },
    ]);
    expect(refusal(() => store.bind('default', 'a', 'node-8'))).toMatchObject({ code: 409, reason: 'Conflict' });
  });
});

describe('PodStore, raw operations', () => {
  it('stores a pod unchanged with put, even unknown fields and milliseconds', () => {
    const store = new PodStore();
    const status = { phase: 'Running', unknown: 1, startTime: '2000-01-01T00:00:00.123Z', qosClass: null };
    expect(store.put({ ...buildPod(), status }).status).toEqual(status);
  });

  it('replaces a pod by one of another uid: a watch gets DELETED for the first and ADDED for the second', () => {
    const store = new PodStore();
    const events = record(store);
    store.put(buildPod());
    store.put(buildPod({ metadata: { uid: 'second' } }));
    store.put(buildPod({ metadata: { uid: 'second' }, status: { phase: 'Running' } }));
    expect(shape(events)).toEqual(['ADDED pod-1', 'DELETED pod-1', 'ADDED pod-1', 'MODIFIED pod-1']);
    expect(events.map(({ object }) => object.metadata?.uid)).toEqual(['uid-of-pod-1', 'uid-of-pod-1', 'second', 'second']);
  });

  it('removes a pod at once, even with finalizers, and returns false when there is none', () => {
    const store = new PodStore();
    store.put(buildPod({ metadata: { finalizers: ['x.io/held'] } }));
    expect(store.remove('default', 'pod-1')).toBe(true);
    expect(store.remove('default', 'pod-1')).toBe(false);
    expect(store.list()).toEqual([]);
  });
});

describe('PodStore.watch', () => {
  it('gives every change of any pod a resourceVersion, and calls listeners in order', () => {
    const store = new PodStore();
    const events = record(store);
    store.put(buildPod({ metadata: { name: 'a' } }));
    store.put(buildPod({ metadata: { name: 'b' } }));
    store.patch('default', 'a', { type: strategic, body: { status: { phase: 'Running' } }, subresource: 'status' });
    store.remove('default', 'a');
    expect(shape(events)).toEqual(['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED a']);
    expect(events.map(({ resourceVersion }) => resourceVersion)).toEqual(['1', '2', '3', '4']);
    expect(events.map(({ object }) => object.metadata?.resourceVersion)).toEqual(['1', '2', '3', '4']);
    expect(events[2]?.previous?.status?.phase).toBe('Pending');
    expect(store.resourceVersion).toBe('4');
  });

  it('ends when its stop function is called', () => {
    const store = new PodStore();
    const seen: string[] = [];
    const stop = store.watch(({ type }) => seen.push(type));
    store.put(buildPod());
    stop();
    store.remove('default', 'pod-1');
    expect(seen).toEqual(['ADDED']);
  });

  it('replays the events after a resourceVersion', () => {
    const store = new PodStore();
    for (const name of ['a', 'b', 'c']) store.put(buildPod({ metadata: { name } }));
    expect(shape(store.eventsSince('1'))).toEqual(['ADDED b', 'ADDED c']);
    expect(store.eventsSince('3')).toEqual([]);
  });

  it('answers 410 Expired for events it has forgotten, by compaction or by the bound of its history', () => {
    const store = new PodStore({ historySize: 2 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) store.put(buildPod({ metadata: { name } }));
    expect(refusal(() => store.eventsSince('1'))).toMatchObject({
      code: 410,
      reason: 'Expired',
      message: 'too old resource version: 1 (3)',
    });
    expect(shape(store.eventsSince('3'))).toEqual(['ADDED d', 'ADDED e']);
    store.compact();
    expect(refusal(() => store.eventsSince('4')).code).toBe(410);
    expect(store.eventsSince('5')).toEqual([]);
  });
});
