import { describe, expect, it } from 'vitest';
import { BasicPodManager } from '../../../src/status/pods/basic-pod-manager.ts';
import { StatusManager } from '../../../src/status/status-manager.ts';
import { UnsettledPodsError } from '../../../src/status/sync/sync-phase.ts';
import { Harness, numberedPod, settle, testPod } from './status-harness.ts';

const uid = '12345678';
const safety = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => false };

/** The state of a promise. */
function track(promise: Promise<unknown>): { settled: string } {
  const seen = { settled: 'pending' };
  promise.then(
    () => (seen.settled = 'resolved'),
    (error: { code?: string }) => (seen.settled = `rejected ${error.code}`),
  );
  return seen;
}

describe('StatusManager.flush', () => {
  it('resolves when the set statuses are on the apiserver', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.client.hold();
    h.manager.setPodStatus(pod, { message: 'm' });
    const flushed = h.manager.flush();
    const seen = track(flushed);
    await settle();
    expect(seen.settled).toBe('pending');
    h.client.release();
    await expect(flushed).resolves.toEqual({ held: [] });
    expect(h.apiStatus(pod).message).toBe('m');
  });

  it('resolves at once when nothing is left to send, and leaves no timer', async () => {
    const h = new Harness();
    const timers = h.clock.pendingTimers;
    await expect(h.manager.flush()).resolves.toEqual({ held: [] });
    await expect(h.manager.flush({ podUID: 'unknown-uid' })).resolves.toEqual({ held: [] });
    expect(h.clock.pendingTimers).toBe(timers);
  });

  it('waits for statuses set before it, and not for later ones', async () => {
    const h = new Harness({ concurrency: 1 });
    const pod = h.publish(testPod());
    h.client.hold();
    h.manager.setPodStatus(pod, { message: 'before' });
    await settle();
    const seen = track(h.manager.flush());
    h.manager.once('synced', () => h.client.failNext('patch', { code: 403 }));
    h.manager.setPodStatus(pod, { message: 'after' });
    const later = track(h.manager.flush());
    h.client.release();
    await settle();
    expect([seen.settled, later.settled]).toEqual(['resolved', 'pending']);
    await h.clock.advance(500);
    expect(later.settled).toBe('resolved');
  });

  it('waits for one pod only when podUID is given', async () => {
    const h = new Harness();
    const [one, two] = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    h.client.failNext('patch', { name: 'pod-1', code: 500, times: 99 });
    h.manager.setPodStatus(one, { message: 'm' });
    h.manager.setPodStatus(two, { message: 'm' });
    await expect(h.manager.flush({ podUID: 'uid-2' })).resolves.toEqual({ held: [] });
    const seen = track(h.manager.flush({ podUID: 'uid-1', timeoutMs: 1_000 }));
    await h.clock.advance(999);
    expect(seen.settled).toBe('pending');
    await h.clock.advance(1);
    expect(seen.settled).toBe('rejected ERR_FLUSH_TIMEOUT');
  });

  it('accepts a mirror pod’s uid for its static pod', async () => {
    const h = new Harness();
    const annotations = { 'kubernetes.io/config.source': 'api', 'kubernetes.io/config.mirror': 'x' };
    h.publish(testPod({ metadata: { uid: 'mirror', annotations } }));
    const pod = testPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } });
    h.podManager.addPod(pod);
    h.manager.setPodStatus(pod, { message: 'm' });
    await h.manager.flush({ podUID: 'mirror' });
    expect(h.apiStatus(pod).message).toBe('m');
  });

  it('waits through failures and pauses until its timeout', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 429, retryAfterMs: 20_000 });
    h.manager.setPodStatus(pod, { message: 'm' });
    const seen = track(h.manager.flush());
    await h.clock.advance(19_999);
    expect(seen.settled).toBe('pending');
    await h.clock.advance(1);
    expect(seen.settled).toBe('resolved');
  });

  it('waits for a repair after another controller changed the status', async () => {
    const h = new Harness({ subscribed: false });
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'ours' });
    h.rival(pod, { message: 'theirs' });
    h.observe(pod);
    h.client.hold();
    await h.clock.advance(10_000);
    const seen = track(h.manager.flush());
    await settle();
    expect(seen.settled).toBe('pending');
    h.client.release();
    await settle();
    expect([seen.settled, h.apiStatus(pod).message]).toEqual(['resolved', 'ours']);
  });

  it('waits for the status that is to be sent in place of one that was refused', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 422, times: 2 });
    h.client.hold('get');
    h.manager.setPodStatus(pod, { message: 'refused' });
    await settle();
    h.client.hold('patch');
    h.client.release('get');
    await settle();
    // its second PATCH is on its way, and will be refused as well
    const seen = track(h.manager.flush());
    h.manager.setPodStatus(pod, { message: 'newer' });
    h.manager.reconcile(uid);
    h.client.release('patch');
    h.client.hold('patch');
    await settle();
    expect([seen.settled, h.client.verbs()]).toEqual(['pending', ['patch', 'get', 'patch', 'get', 'patch']]);
    h.client.release();
    await settle();
    expect([seen.settled, h.apiStatus(pod).message]).toEqual(['resolved', 'newer']);
  });

  it('waits for a new status of a quarantined pod', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 422, times: 2 });
    await h.set(pod, { message: 'bad' });
    h.client.hold();
    h.manager.setPodStatus(pod, { message: 'good' });
    const seen = track(h.manager.flush());
    await settle();
    expect(seen.settled).toBe('pending');
    h.client.release();
    await settle();
    expect([seen.settled, h.apiStatus(pod).message]).toEqual(['resolved', 'good']);
  });

  it('names the pods and each one’s reason after its timeout', async () => {
    const h = new Harness();
    const pods = [1, 2, 3].map((n) => h.publish(numberedPod(n)));
    h.client.failNext('patch', { name: 'pod-2', code: 500, times: 99 });
    h.client.failNext('patch', { name: 'pod-3', code: 403, times: 99 });
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
    const flushed = h.manager.flush();
    const rejected = expect(flushed).rejects.toMatchObject({
      code: 'ERR_FLUSH_TIMEOUT',
      message: expect.stringMatching(
        /^2 pod\(s\) had not settled after 30000 ms: default\/pod-2 \(backing-off: patch of pod .*pod-2.*\), default\/pod-3 \(backing-off: .*pod-3.*\)$/,
      ),
    });
    await h.clock.advance(30_000);
    await rejected;
  });

  it.each([
    [20, /^20 pod\(s\) .*default\/pod-19 \([^)]*\)$/],
    [25, /^25 pod\(s\) .*default\/pod-19 \([^)]*\) and 5 more$/],
  ])('names at most twenty of %i pods', async (count, message) => {
    const h = new Harness();
    for (let n = 0; n < count; n += 1) h.manager.setPodStatus(h.publish(numberedPod(n)), { message: 'm' });
    h.client.hold();
    const rejected = expect(h.manager.flush({ timeoutMs: 0 })).rejects.toThrow(message);
    await h.clock.advance(0);
    await rejected;
  });

  it('lists a static pod without a mirror pod as held', async () => {
    const h = new Harness();
    const pod = testPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } });
    h.podManager.addPod(pod);
    h.manager.setPodStatus(pod, { message: 'm' });
    await expect(h.manager.flush()).resolves.toEqual({ held: [{ podUID: uid, phase: 'no-mirror-pod' }] });
    await settle();
    await expect(h.manager.flush()).resolves.toEqual({ held: [{ podUID: uid, phase: 'no-mirror-pod' }] });
  });

  it('resolves when the manager drops the entry meanwhile', async () => {
    const h = new Harness();
    h.client.hold();
    h.manager.setPodStatus(h.publish(testPod()), { message: 'm' });
    const seen = track(h.manager.flush());
    await settle();
    h.manager.removeOrphanedStatuses(new Set());
    await settle();
    expect(seen.settled).toBe('resolved');
  });

  it('resolves when the pod is gone', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.client.store.remove('new', 'foo');
    h.manager.setPodStatus(pod, { message: 'm' });
    await expect(h.manager.flush()).resolves.toEqual({ held: [{ podUID: '12345678', phase: 'gone' }] });
  });

  it('rejects at once without a pod client, before start and after stop', async () => {
    const podManager = new BasicPodManager();
    const cacheOnly = new StatusManager({ logger: null, podClient: null, podManager, podDeletionSafety: safety });
    await expect(cacheOnly.flush()).rejects.toMatchObject({ code: 'ERR_NO_CLIENT' });
    const h = new Harness({ started: false });
    await expect(h.manager.flush()).rejects.toMatchObject({ code: 'ERR_NOT_STARTED' });
    await h.manager.stop();
    await expect(h.manager.flush()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
  });

  it.each([-1, Number.NaN, '5', Number.POSITIVE_INFINITY])('refuses timeoutMs %s', async (timeoutMs) => {
    const { manager } = new Harness();
    await expect(manager.flush({ timeoutMs: timeoutMs as number })).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
  });

  it('rejects with an error that lists every pod, with its phase and its last error', async () => {
    const h = new Harness();
    const pods = Array.from({ length: 25 }, (_, n) => h.publish(numberedPod(n)));
    h.client.failNext('patch', { code: 503, times: 1_000 });
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
    const flushed = h.manager.flush({ timeoutMs: 200 }).catch((error: unknown) => error);
    await h.clock.advance(200);
    const error = await flushed;
    if (!(error instanceof UnsettledPodsError)) throw error;
    expect(error.code).toBe('ERR_FLUSH_TIMEOUT');
    expect(error.pods.map(({ podUID }) => podUID).sort()).toEqual(pods.map(({ metadata }) => metadata.uid).sort());
    expect(error.pods[0]).toMatchObject({ phase: 'backing-off', error: { errorClass: 'unavailable' } });
    const { namespace, name } = pods[0]?.metadata ?? {};
    expect(error.pods[0]).toMatchObject({ podNamespace: namespace, podName: name });
    expect(error.message).toMatch(/^25 pod\(s\) had not settled after 200 ms: .* and 5 more$/);
    expect(error.message).toContain(` ms: ${namespace}/${name} (backing-off: `);
  });

  it('rejects when the manager is stopped, with an error that lists the pods, and stop resolves to them', async () => {
    const h = new Harness();
    const [one, two] = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    h.client.failNext('patch', { code: 503, times: 1_000, name: 'pod-2' });
    h.manager.setPodStatus(one, { message: 'm' });
    h.manager.setPodStatus(two, { message: 'm' });
    const flushed = h.manager.flush().catch((error: unknown) => error);
    await settle();
    const stopped = await h.manager.stop({ drainTimeoutMs: 0 });
    const unsettled = {
      podUID: 'uid-2',
      podNamespace: two.metadata.namespace,
      podName: 'pod-2',
      phase: 'backing-off',
      error: { errorClass: 'unavailable' },
    };
    expect(await flushed).toMatchObject({ code: 'ERR_STOPPED', pods: [unsettled] });
    expect(stopped).toMatchObject({ pods: [unsettled], underWay: [] });
  });
});
