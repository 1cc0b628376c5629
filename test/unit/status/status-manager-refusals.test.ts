import { describe, expect, it } from 'vitest';
import { Harness, testPod } from './status-harness.ts';

const uid = '12345678';

function withPod(options = {}) {
  const h = new Harness(options);
  return { h, pod: h.publish(testPod()), errors: h.record('syncError') };
}

describe('StatusManager, a status that the apiserver refuses', () => {
  async function quarantined(code = 422) {
    const all = withPod();
    all.h.client.failNext('patch', { code, times: 2 });
    expect(await all.h.set(all.pod, { message: 'bad' })).toEqual(['patch', 'get', 'patch']);
    return all;
  }

  it.each([400, 413, 415, 422])('is quarantined after one GET and a second attempt: %i', async (code) => {
    const { h, errors } = await quarantined(code);
    expect(errors).toMatchObject([{ errorClass: 'invalid', attempt: 1, retryInMs: undefined }]);
    expect(h.manager.explain(uid)).toMatchObject({
      phase: 'quarantined',
      lastError: { errorClass: 'invalid' },
      retryAt: undefined,
    });
    for (let tick = 0; tick < 5; tick += 1) expect(await h.batch()).toEqual([]);
    await expect(h.manager.flush()).resolves.toEqual({ held: [{ podUID: uid, phase: 'quarantined' }] });
  });

  it('is not sent again when the same status is set again', async () => {
    const { h, pod } = await quarantined();
    expect(await h.set(pod, { message: 'bad' })).toEqual([]);
  });

  it('is no longer quarantined with another status', async () => {
    const { h, pod } = await quarantined();
    expect(await h.set(pod, { message: 'good' })).toEqual(['patch']);
    expect(h.manager.explain(uid).phase).toBe('in-sync');
  });

  it('is no longer quarantined with another API copy', async () => {
    const { h, pod } = await quarantined();
    h.rival(pod, { conditions: [{ type: 'example.com/x', status: 'True' }] });
    h.observe(pod);
    expect(await h.batch()).toEqual(['patch']);
    expect(h.apiStatus(pod).message).toBe('bad');
  });

  it('is no longer quarantined after reconcile', async () => {
    const { h, pod } = await quarantined();
    h.manager.reconcile(uid);
    expect(await h.calls()).toEqual(['get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('bad');
  });

  it('is written when the second attempt succeeds', async () => {
    const { h, pod, errors } = withPod();
    h.client.failNext('patch', { code: 422 });
    expect(await h.set(pod, { message: 'm' })).toEqual(['patch', 'get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('m');
    expect(errors).toEqual([]);
  });

  it('does not keep a flush waiting', async () => {
    const { h, pod } = withPod();
    h.client.failNext('patch', { code: 422, times: 2 });
    h.manager.setPodStatus(pod, { message: 'bad' });
    await expect(h.manager.flush()).resolves.toEqual({ held: [{ podUID: uid, phase: 'quarantined' }] });
  });
});

describe('StatusManager, a pod that is gone', () => {
  async function gone() {
    const all = withPod();
    all.h.client.store.remove('new', 'foo');
    expect(await all.h.set(all.pod, { message: 'one' })).toEqual(['patch']);
    return all;
  }

  it('gets no more requests, and keeps its cached status', async () => {
    const { h, errors } = await gone();
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'gone', attempt: 0 });
    for (let tick = 0; tick < 5; tick += 1) expect(await h.batch()).toEqual([]);
    expect(h.manager.getPodStatus(uid)?.message).toBe('one');
    expect(errors).toEqual([]);
    await expect(h.manager.flush()).resolves.toEqual({ held: [{ podUID: uid, phase: 'gone' }] });
  });

  it('gets a request again when it is set again', async () => {
    const { h, pod } = await gone();
    expect(await h.set(pod, { message: 'two' })).toEqual(['patch']);
    expect(h.manager.explain(uid).phase).toBe('gone');
  });

  it('gets a request again when the pod manager shows another resourceVersion', async () => {
    const { h, pod } = await gone();
    h.client.store.put(testPod());
    h.observe(pod);
    expect(await h.batch()).toEqual(['patch']);
    expect(h.apiStatus(pod).message).toBe('one');
  });

  it('is also gone when a GET is answered with NotFound', async () => {
    const h = new Harness({ fetchBeforePatch: 'always' });
    const pod = testPod();
    h.podManager.addPod(pod);
    expect(await h.set(pod, { message: 'm' })).toEqual(['get']);
    expect(h.manager.explain(uid).phase).toBe('gone');
    expect(await h.batch()).toEqual([]);
  });
});

describe('StatusManager, a recreated pod', () => {
  it('loses its entry and its acknowledged version, and passes nothing on to the new pod', async () => {
    const { h, pod } = withPod();
    await h.set(pod, { message: 'old' });
    const next = h.client.store.put(testPod({ metadata: { uid: 'next' } }));
    expect(await h.set(pod, { message: 'older' })).toEqual(['patch', 'get']);
    expect(h.apiStatus(pod)).toEqual({});
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'gone', acknowledgedVersion: 0, version: undefined });
    h.podManager.removePod(pod);
    h.podManager.addPod(next);
    expect(await h.set(next, { message: 'new' })).toEqual(['patch']);
    expect(h.apiStatus(next).message).toBe('new');
  });

  it('settles a flush, which lists it as gone: its status was not written', async () => {
    const { h, pod } = withPod();
    h.client.store.put(testPod({ metadata: { uid: 'next' } }));
    h.manager.setPodStatus(pod, { message: 'm' });
    await expect(h.manager.flush({ podUID: uid })).resolves.toEqual({ held: [{ podUID: uid, phase: 'gone' }] });
  });
});
