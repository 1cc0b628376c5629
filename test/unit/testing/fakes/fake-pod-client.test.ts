import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import {
  deleteAction,
  FakePodClient,
  type FakePodClientOptions,
  getAction,
  patchAction,
} from '../../../../src/testing/fakes/fake-pod-client.ts';
import { PodStore } from '../../../../src/testing/pods-api/pod-store.ts';

const never = new AbortController().signal;
const strategic = 'application/strategic-merge-patch+json';

function clientWith(options: FakePodClientOptions = {}) {
  const client = new FakePodClient(options);
  client.store.put(buildPod({ metadata: { name: 'a' } }));
  const get = (signal = never) => client.getPod('default', 'a', { signal });
  const patch = (status: object, signal = never) =>
    client.patchPodStatus('default', 'a', { type: strategic, body: { status } }, { signal });
  const remove = (uid: string, signal = never) => client.deletePod('default', 'a', { uid, gracePeriodSeconds: 0, signal });
  return { client, get, patch, remove };
}

/** The error that the promise rejects with. */
async function errorOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error('Expected an ApiError');
  return error;
}

describe('FakePodClient', () => {
  it('gets, patches and deletes pods of its store, and records each request', async () => {
    const { client, get, patch, remove } = clientWith();
    expect((await get()).status?.phase).toBe('Pending');
    expect(await patch({ phase: 'Failed' })).toEqual({ uid: 'uid-of-a', resourceVersion: '2' });
    expect(client.store.get('default', 'a').status?.phase).toBe('Failed');
    expect(await remove('uid-of-a')).toMatchObject({ uid: 'uid-of-a' });
    expect(client.store.list()).toEqual([]);
    expect(client.actions).toEqual([
      { verb: 'get', namespace: 'default', name: 'a' },
      { verb: 'patch', namespace: 'default', name: 'a', patch: { status: { phase: 'Failed' } } },
      { verb: 'delete', namespace: 'default', name: 'a', uid: 'uid-of-a', gracePeriodSeconds: 0 },
    ]);
    expect(client.actions).toMatchObject([getAction('a'), patchAction('a'), deleteAction('a')]);
    expect(client.verbs()).toEqual(['get', 'patch', 'delete']);
    client.clearActions();
    expect(client.actions).toEqual([]);
  });

  it('answers a GET with a copy that the caller may change', async () => {
    const { client, get } = clientWith();
    const pod = await get();
    pod.metadata = { ...pod.metadata, name: 'changed' };
    Object.assign(pod.status ?? {}, { phase: 'Failed' });
    expect(client.store.get('default', 'a')).toMatchObject({ metadata: { name: 'a' }, status: { phase: 'Pending' } });
  });

  it('answers metadata with deletionTimestamp and finalizers when the pod has them', async () => {
    const { client, remove } = clientWith();
    client.store.put(buildPod({ metadata: { name: 'a', finalizers: ['x.io/f'] } }));
    expect(await remove('uid-of-a')).toMatchObject({ deletionTimestamp: expect.any(String), finalizers: ['x.io/f'] });
  });

  it("rejects with the store's ApiError and records its status", async () => {
    const { client, remove } = clientWith();
    const gone = await errorOf(client.getPod('default', 'nope', { signal: never }));
    expect(gone).toMatchObject({ status: 404, reason: 'NotFound', name: 'StoreError', code: 'ERR_API' });
    expect(await errorOf(remove('other'))).toMatchObject({ status: 409, reason: 'Conflict' });
    expect(client.actions.map(({ error }) => error)).toEqual([404, 409]);
  });

  it('validates nothing by default, and validates as a given store does', async () => {
    const wrong = { qosClass: 'Guaranteed', hostIP: '192.0.2.1', hostIPs: [{ ip: '192.0.2.2' }] };
    expect((await clientWith().patch(wrong)).resourceVersion).toBe('2');
    expect((await errorOf(clientWith({ store: new PodStore() }).patch(wrong))).status).toBe(422);
  });

  it('fails the next requests of a verb as often as asked, before they reach the store', async () => {
    const { client, get, patch } = clientWith();
    client.failNext('patch', { code: 429, retryAfterMs: 1000, times: 2 });
    await get();
    expect(await errorOf(patch({ phase: 'Failed' }))).toMatchObject({
      status: 429,
      reason: 'TooManyRequests',
      retryAfterMs: 1000,
    });
    expect((await errorOf(patch({ phase: 'Failed' }))).status).toBe(429);
    expect(client.store.get('default', 'a').status?.phase).toBe('Pending');
    expect((await patch({ phase: 'Failed' })).resourceVersion).toBe('2');
    expect(client.actions.map(({ error }) => error)).toEqual([undefined, 429, 429, undefined]);
  });

  it('fails only the named pods, and uses up several failures in order', async () => {
    const { client, get } = clientWith();
    client.failNext('get', { name: 'b', code: 500 });
    client.failNext('get', { namespace: 'default', code: 503 });
    client.failNext('get', { reason: 'Timeout' });
    expect((await errorOf(get())).reason).toBe('ServiceUnavailable');
    expect(await errorOf(get())).toMatchObject({ status: undefined, reason: 'Timeout' });
    expect((await get()).metadata?.name).toBe('a');
    expect((await errorOf(client.getPod('default', 'b', { signal: never }))).status).toBe(500);
    expect(client.actions.map(({ error }) => error)).toEqual([503, 0, undefined, 500]);
  });

  it('holds requests before they reach the store, and lets them go on in order', async () => {
    const { client, get, patch } = clientWith();
    client.hold('patch');
    const first = patch({ phase: 'Running' });
    const second = patch({ phase: 'Failed' });
    expect((await get()).status?.phase).toBe('Pending');
    await settle();
    expect(client.heldRequests).toBe(2);
    expect(client.verbs()).toEqual(['patch', 'patch', 'get']);
    client.release();
    expect(await Promise.all([first, second])).toMatchObject([{ resourceVersion: '2' }, { resourceVersion: '3' }]);
    expect(client.heldRequests).toBe(0);
  });

  it('releases one verb and keeps holding the others', async () => {
    const { client, get, patch } = clientWith();
    client.hold();
    const read = get();
    void patch({ phase: 'Running' });
    client.release('get');
    await read;
    expect(client.heldRequests).toBe(1);
  });

  it('rejects an aborted held request at once, without effect', async () => {
    const { client, patch } = clientWith();
    client.hold();
    const abort = new AbortController();
    const request = patch({ phase: 'Failed' }, abort.signal);
    abort.abort();
    expect(await errorOf(request)).toMatchObject({ reason: 'Aborted', status: undefined });
    client.release();
    await settle();
    expect(client.store.get('default', 'a').status?.phase).toBe('Pending');
  });

  it('settles an aborted held request only when released, with settleAbortsLate', async () => {
    const { client, patch } = clientWith({ settleAbortsLate: true });
    client.hold();
    const abort = new AbortController();
    let settled = false;
    const request = errorOf(patch({ phase: 'Failed' }, abort.signal)).finally(() => {
      settled = true;
    });
    abort.abort();
    await settle();
    expect(settled).toBe(false);
    client.release();
    expect((await request).reason).toBe('Aborted');
    expect(client.store.get('default', 'a').status?.phase).toBe('Pending');
  });

  it('neither sends nor records a request whose signal is already aborted', async () => {
    const { client, get } = clientWith();
    expect((await errorOf(get(AbortSignal.abort()))).reason).toBe('Aborted');
    expect(client.actions).toEqual([]);
  });
});
