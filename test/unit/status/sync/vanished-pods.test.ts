import { describe, expect, it } from 'vitest';
import { Harness, testPod } from '../status-harness.ts';

const uid = '12345678';
const running = {
  containerStatuses: [{ name: 'c', image: '', imageID: '', ready: true, restartCount: 0, state: { running: {} } }],
};

/** A pod whose status is on the apiserver, and that is then removed from there and from the pod manager. */
async function vanished(status: object = { phase: 'Running' }, options = {}) {
  const h = new Harness({ subscribed: false, ...options });
  const pod = h.publish(testPod());
  await h.set(pod, status);
  h.client.store.remove('new', 'foo');
  h.podManager.removePod(pod);
  return { h, pod };
}

describe('a pod that has vanished', () => {
  it('is gone in explain, and its entry is dropped at the next batch, without a request', async () => {
    const { h } = await vanished();
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'gone', version: 1, acknowledgedVersion: 1 });
    expect(await h.batch()).toEqual([]);
    expect(h.manager.explain(uid).phase).toBe('unknown');
    expect(h.manager.getPodStatus(uid)).toBeUndefined();
  });

  it('loses its resize conditions', async () => {
    const { h } = await vanished();
    h.manager.resizes.setPodResizePendingCondition(uid, 'Deferred', '', 1);
    await h.batch();
    expect(h.manager.resizes.getPodResizeConditions(uid)).toEqual([]);
  });

  it.each([
    ['containers could run', {}, true],
    ['its newest status shows a running container', running, false],
  ])('keeps its entry while %s', async (_, status, couldRun) => {
    const { h } = await vanished({ phase: 'Running', ...status });
    h.safety.running = couldRun;
    await h.batch();
    expect(h.manager.explain(uid).phase).toBe('gone');
    h.safety.running = false;
    h.manager.setPodStatus(testPod(), { phase: 'Failed' });
    await h.batch();
    expect(h.manager.explain(uid).phase).toBe('unknown');
  });

  it('keeps its entry until its newest version was sent and the apiserver has no such pod', async () => {
    const { h } = await vanished();
    h.client.failNext('patch', { code: 503, times: 2 });
    expect(await h.set(testPod(), { phase: 'Failed' })).toEqual(['patch']);
    expect(h.manager.explain(uid).phase).toBe('backing-off');
    await h.clock.advance(5_000);
    expect(h.manager.explain(uid).phase).toBe('gone');
    await h.batch();
    expect(h.manager.explain(uid).phase).toBe('unknown');
  });

  it('gets its terminal phase, which was held back, as soon as nothing of it runs, and its entry is dropped then', async () => {
    const h = new Harness({ subscribed: false });
    h.safety.running = true;
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Failed' });
    h.podManager.removePod(pod);
    expect(await h.batch()).toEqual([]);
    expect(h.manager.explain(uid).phase).toBe('terminal-phase-held-back');
    expect(await h.manager.flush()).toEqual({ held: [{ podUID: uid, phase: 'terminal-phase-held-back' }] });
    h.safety.running = false;
    expect(await h.batch()).toEqual(['patch']);
    expect([h.apiStatus(pod).phase, h.manager.explain(uid).phase]).toEqual(['Failed', 'gone']);
    await h.batch();
    expect(h.manager.explain(uid).phase).toBe('unknown');
  });

  it('loses its entry when its terminal phase was held back and the apiserver has no such pod', async () => {
    const h = new Harness({ subscribed: false });
    h.safety.running = true;
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Failed' });
    h.podManager.removePod(pod);
    h.client.store.remove('new', 'foo');
    h.safety.running = false;
    await h.batch();
    await h.batch();
    expect(h.manager.explain(uid).phase).toBe('unknown');
  });

  it('is read when the apiserver had refused its newest status, and its entry is dropped once the apiserver has no such pod', async () => {
    const h = new Harness({ subscribed: false });
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 422, times: 2 });
    await h.set(pod, { phase: 'Failed' });
    expect(h.manager.explain(uid).phase).toBe('quarantined');
    h.podManager.removePod(pod);
    expect(await h.batch()).toEqual(['get']);
    expect(h.manager.explain(uid).phase).toBe('quarantined');
    h.client.store.remove('new', 'foo');
    expect(await h.batch()).toEqual(['get']);
    expect(h.manager.explain(uid).phase).toBe('gone');
    expect(await h.batch()).toEqual([]);
    expect(h.manager.explain(uid).phase).toBe('unknown');
  });

  it('loses its entry, too, when the pod manager forgets it right after its status was set', async () => {
    const h = new Harness({ subscribed: false });
    const pod = h.publish(testPod());
    h.manager.setPodStatus(pod, { phase: 'Failed' });
    h.podManager.removePod(pod);
    expect(await h.batch()).toEqual(['get', 'patch']);
    expect(h.manager.explain(uid).phase).toBe('unknown');
  });

  it('does not count as vanished when the pod manager has never shown it', async () => {
    const h = new Harness();
    const pod = h.client.store.put(testPod());
    await h.set(pod, { phase: 'Running' });
    await h.batch();
    expect(h.manager.explain(uid).phase).toBe('in-sync');
    expect(h.manager.getPodStatus(uid)?.phase).toBe('Running');
  });

  it('loses its entry, too, when the pod manager has never shown it and the apiserver has no such pod', async () => {
    const h = new Harness();
    expect(await h.set(testPod(), { phase: 'Running' })).toEqual(['get']);
    expect(h.manager.explain(uid).phase).toBe('gone');
    expect(await h.batch()).toEqual([]);
    expect(h.manager.explain(uid).phase).toBe('unknown');
  });

  it('does not count as vanished when the pod manager shows it again', async () => {
    const { h, pod } = await vanished();
    h.publish(pod);
    await h.batch();
    expect([h.manager.explain(uid).phase, h.apiStatus(pod).phase]).toEqual(['in-sync', 'Running']);
  });

  it('is listed as held by a flush', async () => {
    const { h } = await vanished();
    await h.set(testPod(), { phase: 'Failed' });
    expect(await h.manager.flush()).toEqual({ held: [{ podUID: uid, phase: 'gone' }] });
  });
});

describe('a 403', () => {
  const forbidden = { code: 403, reason: 'Forbidden', times: 100 };

  it.each(['patch', 'get'] as const)('for a pod that the pod manager no longer shows means that it is gone: %s', async (verb) => {
    const { h } = await vanished({ phase: 'Running' }, verb === 'get' ? { fetchBeforePatch: 'always' } : {});
    const failures = h.record('syncError');
    h.client.failNext(verb, forbidden);
    expect(await h.set(testPod(), { phase: 'Failed' })).toEqual([verb]);
    expect([h.manager.explain(uid).phase, failures]).toEqual(['gone', []]);
    expect(await h.manager.flush()).toEqual({ held: [{ podUID: uid, phase: 'gone' }] });
  });

  it.each([
    ['for a pod that the pod manager shows', async () => ({ h: new Harness() }), 'Forbidden'],
    ['without a Status object', () => vanished(), 'NoStatus'],
  ])('backs off %s', async (what, begin, reason) => {
    const { h } = await begin();
    const pod = what.includes('shows') ? h.publish(testPod()) : testPod();
    h.client.failNext('patch', { ...forbidden, reason });
    await h.set(pod, { phase: 'Failed' });
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'backing-off', lastError: { errorClass: 'forbidden' } });
  });
});
