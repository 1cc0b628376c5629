import { describe, expect, it } from 'vitest';
import { deleting, Harness, numberedPod, settle, testPod } from './status-harness.ts';

const uid = '12345678';

function withPod(options = {}) {
  const h = new Harness(options);
  return { h, pod: h.publish(testPod()), errors: h.record('syncError') };
}

describe('StatusManager, a pod that fails', () => {
  it.each([
    ['500', { code: 500 }, 'unavailable'],
    ['no answer', { reason: 'Network' }, 'unavailable'],
    ['a timeout of the client', { reason: 'Timeout' }, 'timeout'],
    ['403', { code: 403 }, 'forbidden'],
    ['a broken answer', { reason: 'BrokenAnswer' }, 'broken-answer'],
  ])('tries again after %s, and emits syncError', async (_what, failure, errorClass) => {
    const { h, pod, errors } = withPod();
    h.client.failNext('patch', failure);
    expect(await h.set(pod, { message: 'm' })).toEqual(['patch']);
    expect(errors).toMatchObject([{ podUID: uid, podName: 'foo', podNamespace: 'new', errorClass, attempt: 1, retryInMs: 500 }]);
    expect(h.manager.explain(uid)).toMatchObject({
      phase: 'backing-off',
      attempt: 1,
      retryAt: h.clock.now() + 500,
      lastError: { errorClass, at: h.clock.now() },
    });
    await h.clock.advance(499);
    expect(await h.calls()).toEqual([]);
    await h.clock.advance(1);
    expect(await h.calls()).toEqual(['patch']);
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'in-sync', attempt: 0, retryAt: undefined, lastError: undefined });
  });

  it('waits longer after each failure, up to a minute, and never gives up', async () => {
    const { h, pod, errors } = withPod();
    h.client.failNext('patch', { code: 500, times: 1_000 });
    h.manager.setPodStatus(pod, { message: 'm' });
    await h.clock.advance(300_000);
    const waits = errors.map(({ retryInMs }) => retryInMs);
    expect(waits.slice(0, 9)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(new Set(waits.slice(6))).toEqual(new Set([30_000]));
    expect(h.client.actions.length).toBe(waits.length);
  });

  it('is not retried because of another pod’s change or a batch', async () => {
    const { h, pod } = withPod();
    const other = h.publish(numberedPod(1));
    h.client.failNext('patch', { code: 403, name: 'foo', times: 6 });
    h.manager.setPodStatus(pod, { message: 'm' });
    await h.clock.advance(15_499);
    expect(await h.calls()).toHaveLength(5);
    expect(await h.set(other, { message: 'a' })).toEqual(['patch']);
    await h.clock.advance(5_000);
    expect(await h.calls()).toEqual(['patch']);
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'backing-off', attempt: 6 });
  });

  it('tries a new version at once', async () => {
    const { h, pod } = withPod();
    h.client.failNext('patch', { code: 500 });
    await h.set(pod, { message: 'one' });
    expect(await h.set(pod, { message: 'two' })).toEqual(['patch']);
    expect(h.apiStatus(pod).message).toBe('two');
    await h.clock.advance(5_000);
    expect(await h.calls()).toEqual([]);
  });

  it('sends no new version before Retry-After is over after a 503', async () => {
    const { h, pod } = withPod();
    h.client.failNext('patch', { code: 503, retryAfterMs: 3_000 });
    await h.set(pod, { message: 'one' });
    expect(await h.set(pod, { message: 'two' })).toEqual([]);
    await h.clock.advance(2_999);
    expect(await h.calls()).toEqual([]);
    await h.clock.advance(1);
    expect(await h.calls()).toEqual(['patch']);
    expect(h.apiStatus(pod).message).toBe('two');
  });

  it.each([429, 503])('waits at most five minutes when a %i asks for more', async (code) => {
    const { h, pod } = withPod();
    h.client.failNext('patch', { code, retryAfterMs: 30 * 365 * 86_400_000 });
    h.manager.setPodStatus(pod, { message: 'm' });
    await h.clock.advance(299_999);
    expect(await h.calls()).toEqual(['patch']);
    await h.clock.advance(1);
    expect(await h.calls()).toEqual(['patch']);
    expect(h.manager.explain(uid).phase).toBe('in-sync');
  });

  it.each([
    undefined,
    null,
    'text',
    42,
    {},
    { retryAfterMs: 'soon' },
    { retryAfterMs: -5 },
    { retryAfterMs: Number.NaN },
    { status: '409' },
    { status: 200 },
  ])('backs off when a custom pod client rejects with %o', async (rejection) => {
    const { h, pod, errors } = withPod();
    const { client } = h;
    const patchPodStatus = client.patchPodStatus.bind(client);
    client.patchPodStatus = () => Promise.reject(rejection);
    await h.set(pod, { message: 'm' });
    expect(errors).toMatchObject([{ errorClass: 'unavailable', error: rejection, retryInMs: 500 }]);
    expect(h.manager.explain(uid)).toMatchObject({
      phase: 'backing-off',
      lastError: { message: expect.stringContaining('the pod client rejected with') },
    });
    client.patchPodStatus = patchPodStatus;
    await h.clock.advance(500);
    expect(h.apiStatus(pod).message).toBe('m');
  });

  it.each([
    [429, 0],
    [429, -5_000],
    [503, 0],
  ])('is not retried at once when a %i asks for %s ms', async (code, retryAfterMs) => {
    const { h, pod } = withPod();
    h.client.failNext('patch', { code, retryAfterMs, times: 1_000 });
    h.manager.setPodStatus(pod, { message: 'm' });
    await h.clock.advance(60_000);
    // after 0, 0.5, 1.5, 3.5, 7.5, 15.5 and 31.5 s
    expect(h.client.actions).toHaveLength(7);
  });

  it('is read first by reconcile without a pod source, and a foreign write is repaired', async () => {
    const { h, pod } = withPod();
    await h.set(pod, { message: 'ours' });
    await h.calls();
    h.rival(pod, { message: 'theirs' });
    h.manager.reconcile(uid);
    expect(await h.calls()).toEqual(['get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('ours');
  });

  it('is not read by reconcile with a pod source', async () => {
    const h = new Harness({ podSource: { lastObservedAt: () => h.clock.now() } });
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'ours' });
    h.manager.reconcile(uid);
    expect(await h.calls()).toEqual([]);
  });

  it('is tried now by reconcile, whatever it waits for', async () => {
    const { h, pod } = withPod();
    h.client.failNext('patch', { code: 503, retryAfterMs: 30_000 });
    await h.set(pod, { message: 'one' });
    h.manager.reconcile(uid);
    expect(await h.calls()).toEqual(['get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('one');
    h.manager.reconcile('unknown-uid');
    expect(await h.calls()).toEqual([]);
  });

  it('times out when the answer does not come, and tries again', async () => {
    const { h, pod, errors } = withPod({ requestTimeoutMs: 2_000 });
    h.client.hold();
    h.manager.setPodStatus(pod, { message: 'm' });
    await h.clock.advance(1_999);
    expect(errors).toEqual([]);
    await h.clock.advance(1);
    expect(errors).toMatchObject([{ errorClass: 'timeout', retryInMs: 500 }]);
    h.client.release();
    await h.clock.advance(500);
    expect(h.apiStatus(pod).message).toBe('m');
  });
});

describe('StatusManager, a server that fails', () => {
  it('ends the waits of its failed pods at the first success, once', async () => {
    const h = new Harness({ concurrency: 4 });
    const pods = [1, 2, 3].map((n) => h.publish(numberedPod(n)));
    const healthy = h.publish(numberedPod(9));
    h.client.failNext('patch', { code: 500, times: 3 });
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
    expect(await h.calls()).toHaveLength(3);
    h.client.failNext('patch', { code: 500, name: 'pod-1' });
    expect(await h.set(healthy, { message: 'm' })).toHaveLength(4);
    expect(pods.map((pod) => h.apiStatus(pod).message)).toEqual([undefined, 'm', 'm']);
    await h.set(healthy, { message: 'n' });
    expect(h.apiStatus(pods[0] ?? healthy).message).toBeUndefined();
    await h.clock.advance(1_000);
    expect(h.apiStatus(pods[0] ?? healthy).message).toBe('m');
  });

  it('does not end the wait of a pod that got a 403', async () => {
    const h = new Harness();
    const [forbidden, healthy] = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    h.client.failNext('patch', { code: 403, name: 'pod-1' });
    await h.set(forbidden, { message: 'm' });
    expect(await h.set(healthy, { message: 'm' })).toEqual(['patch']);
    expect(h.manager.explain('uid-1').phase).toBe('backing-off');
  });

  it('pauses all requests after 429, as long as Retry-After says', async () => {
    const h = new Harness();
    const [first, second] = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    const errors = h.record('syncError');
    h.client.failNext('patch', { code: 429, retryAfterMs: 7_000 });
    expect(await h.set(first, { message: 'a' })).toEqual(['patch']);
    expect(errors).toMatchObject([{ errorClass: 'throttled', retryInMs: 7_000 }]);
    expect(await h.set(second, { message: 'a' })).toEqual([]);
    expect(await h.set(first, { message: 'b' })).toEqual([]);
    for (const podUID of ['uid-1', 'uid-2']) {
      expect(h.manager.explain(podUID)).toMatchObject({ phase: 'paused', retryAt: h.clock.now() + 7_000 });
    }
    await h.clock.advance(6_999);
    expect(await h.calls()).toEqual([]);
    await h.clock.advance(1);
    expect(await h.calls()).toEqual(['patch', 'patch']);
    expect([first, second].map((pod) => h.apiStatus(pod).message)).toEqual(['b', 'a']);
  });

  it('pauses longer after each 429 in a row without Retry-After', async () => {
    const { h, pod, errors } = withPod();
    h.client.failNext('patch', { code: 429, times: 3 });
    h.manager.setPodStatus(pod, { message: 'm' });
    await h.clock.advance(5_000);
    expect(errors.map(({ retryInMs }) => retryInMs)).toEqual([500, 1_000, 2_000]);
    expect(h.apiStatus(pod).message).toBe('m');
  });

  it.each([429, 401])('counts requests in flight together that all got %i as one failure', async (code) => {
    const h = new Harness();
    const errors = h.record('syncError');
    h.client.failNext('patch', { code, times: code === 401 ? 32 : 16 });
    for (let n = 0; n < 16; n++) h.manager.setPodStatus(h.publish(numberedPod(n)), { message: 'm' });
    await settle();
    expect(errors).toHaveLength(16);
    expect(new Set(errors.map(({ retryInMs }) => retryInMs))).toEqual(new Set([500]));
    await h.clock.advance(500);
    expect(h.manager.explain('uid-15').phase).toBe('in-sync');
  });

  it('sends a request once more after 401, and then pauses all requests', async () => {
    const { h, pod, errors } = withPod();
    h.client.failNext('patch', { code: 401 });
    expect(await h.set(pod, { message: 'a' })).toEqual(['patch', 'patch']);
    expect(h.apiStatus(pod).message).toBe('a');
    expect(errors).toEqual([]);
    h.client.failNext('patch', { code: 401, times: 2 });
    expect(await h.set(pod, { message: 'b' })).toEqual(['patch', 'patch']);
    expect(errors).toMatchObject([{ errorClass: 'unauthorized', retryInMs: 500 }]);
    expect(h.manager.explain(uid).phase).toBe('paused');
    await h.clock.advance(500);
    expect(h.apiStatus(pod).message).toBe('b');
  });
});

describe('StatusManager, what was computed before a wait', () => {
  it('is computed anew after a 401: containers that could run by then hold a terminal phase back', async () => {
    const { h, pod } = withPod();
    h.client.failNext('patch', { code: 401 });
    h.client.hold('patch');
    h.manager.setPodStatus(pod, { phase: 'Failed', message: 'm' });
    await settle();
    h.safety.running = true;
    h.client.release();
    await settle();
    expect(await h.calls()).toEqual(['patch', 'patch']);
    expect(h.apiStatus(pod).phase).not.toBe('Failed');
  });

  it('is computed anew after a pause: the newest status is sent', async () => {
    const h = new Harness();
    const [pod, other] = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    h.client.hold('get');
    h.manager.reconcile('uid-1');
    h.manager.setPodStatus(pod, { message: 'old' });
    h.manager.reconcile('uid-1');
    await settle();
    h.client.failNext('patch', { code: 429, retryAfterMs: 5_000 });
    h.manager.setPodStatus(other, { message: 'm' });
    await settle();
    h.client.release();
    await settle();
    h.manager.setPodStatus(pod, { message: 'new' });
    await h.clock.advance(20_000);
    const bodies = h.client.actions
      .filter(({ verb, name }) => verb === 'patch' && name === pod.metadata?.name)
      .map(({ patch }) => JSON.stringify(patch));
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toContain('new');
  });
});

describe('StatusManager, a conflict', () => {
  it('reads the pod and computes the patch again, once', async () => {
    const { h, pod, errors } = withPod();
    h.rival(pod, { conditions: [{ type: 'example.com/x', status: 'True' }] });
    expect(await h.set(pod, { message: 'm', conditions: [{ type: 'Ready', status: 'True' }] })).toEqual([
      'patch',
      'get',
      'patch',
    ]);
    expect(h.apiStatus(pod).conditions?.map(({ type }) => type)).toEqual(['example.com/x', 'Ready']);
    expect(errors).toEqual([]);
  });

  it('is an ordinary failure when it comes twice', async () => {
    const { h, pod, errors } = withPod();
    h.client.failNext('patch', { code: 409, times: 2 });
    expect(await h.set(pod, { message: 'm' })).toEqual(['patch', 'get', 'patch']);
    expect(errors).toMatchObject([{ errorClass: 'conflict', attempt: 1, retryInMs: 500 }]);
    await h.clock.advance(500);
    expect(h.apiStatus(pod).message).toBe('m');
  });

  it('is met once more with a GET where the pod is being deleted, which writes it twice', async () => {
    const h = new Harness();
    const [pod, errors] = [h.publish(testPod({ metadata: deleting })), h.record('syncError')];
    h.client.failNext('patch', { code: 409, times: 2 });
    expect(await h.set(pod, { message: 'm' })).toEqual(['patch', 'get', 'patch', 'get', 'patch']);
    expect([errors, h.apiStatus(pod).message]).toEqual([[], 'm']);
    h.client.failNext('patch', { code: 409, times: 3 });
    expect(await h.set(pod, { message: 'n' })).toEqual(['patch', 'get', 'patch', 'get', 'patch']);
    expect(errors).toMatchObject([{ errorClass: 'conflict', attempt: 1 }]);
  });

  it('sends the newest version after the GET', async () => {
    const { h, pod } = withPod();
    h.client.failNext('patch', { code: 409 });
    h.client.hold('get');
    h.manager.setPodStatus(pod, { message: 'one' });
    await settle();
    h.manager.setPodStatus(pod, { message: 'two' });
    h.client.release();
    expect(await h.calls()).toEqual(['patch', 'get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('two');
  });

  it('protects a newer status from a late PATCH of an older one', async () => {
    const { h, pod } = withPod({ client: { settleAbortsLate: false }, requestTimeoutMs: 1_000 });
    const store = h.client.store;
    let runLate: (() => unknown) | undefined;
    const patch = h.client.patchPodStatus.bind(h.client);
    h.client.patchPodStatus = (namespace, name, body, options) => {
      runLate ??= () => store.patch(namespace, name, { ...body, subresource: 'status' });
      return patch(namespace, name, body, options);
    };
    h.client.hold();
    h.manager.setPodStatus(pod, { message: 'old' });
    await h.clock.advance(1_000);
    h.client.release();
    h.manager.setPodStatus(pod, { message: 'new' });
    await h.calls();
    expect(h.apiStatus(pod).message).toBe('new');
    expect(runLate).toThrow(expect.objectContaining({ status: 409 }));
    expect(h.apiStatus(pod).message).toBe('new');
  });
});
