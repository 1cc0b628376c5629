import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/api/json/types.ts';
import { ApiError } from '../../../src/client/transport/api-error.ts';
import { deleting, Harness, numberedPod, settle, testPod } from './status-harness.ts';

// Races that the simulation (test/random/simulation) has found.

describe('StatusManager, races', () => {
  it('leaves no timer for a timed-out request that settles only while the manager stops', async () => {
    const h = new Harness({ client: { settleAbortsLate: true } });
    h.client.hold();
    h.manager.setPodStatus(h.publish(testPod()), { message: 'm' });
    await h.clock.advance(10_000);
    const stopping = h.manager.stop({ drainTimeoutMs: 0 });
    h.client.release();
    await stopping;
    expect(h.clock.pendingTimers).toBe(0);
  });

  it('sets one retry, and no second one, for a pod that is reconciled while its request fails', async () => {
    const h = new Harness();
    h.client.failNext('patch', { code: 500, times: 2 });
    h.client.hold('patch');
    h.manager.setPodStatus(h.publish(testPod()), { message: 'm' });
    await settle();
    h.manager.reconcile('12345678');
    h.client.release('patch');
    expect(await h.calls()).toEqual(['patch', 'get', 'patch']);
    expect(h.clock.pendingTimers).toBe(2);
    await h.manager.stop({ drainTimeoutMs: 0 });
    expect(h.clock.pendingTimers).toBe(0);
  });

  it('stops at once while a request waits for the end of a pause and would then wait for a token', async () => {
    const h = new Harness({ fetchBeforePatch: 'always', rateLimiter: { qps: 0.001, burst: 2 } });
    const { promise: answered, resolve: answer } = Promise.withResolvers<WirePod>();
    const [first, second] = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    h.client.getPod = async (_namespace, name) => {
      if (name === 'pod-2') return answered;
      throw new ApiError({ status: 429, reason: 'TooManyRequests', message: 'wait', retryAfterMs: 60_000 });
    };
    for (const pod of [second, first]) h.manager.setPodStatus(pod, { message: 'm' });
    await settle();
    answer(h.api(second));
    await settle();
    expect(h.manager.explain('uid-2').phase).toBe('in-flight');
    h.manager.stop({ drainTimeoutMs: 0 }).catch(() => {});
    await settle();
    expect([h.manager.state, h.clock.pendingTimers]).toEqual(['stopped', 0]);
  });

  it('lists a held pod in the result of flush, even when a new look has begun', async () => {
    const h = new Harness();
    const pod = testPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } });
    h.podManager.addPod(pod);
    await h.set(pod, { message: 'm' });
    const flushed = h.manager.flush();
    h.manager.reconcile('12345678');
    expect(await flushed).toEqual({ held: [{ podUID: '12345678', phase: 'no-mirror-pod' }] });
  });

  it('does not list a pod that was written while flush waited for others', async () => {
    const h = new Harness();
    const pod = testPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } });
    h.podManager.addPod(pod);
    await h.set(pod, { message: 'm' });
    h.client.failNext('patch', { name: 'pod-1', code: 403 });
    await h.set(h.publish(numberedPod(1)), { message: 'm' });
    const flushed = h.manager.flush();
    h.publish(testPod({ metadata: { uid: 'mirror', annotations: { 'kubernetes.io/config.mirror': 'x' } } }));
    h.manager.reconcile('12345678');
    expect(await h.calls()).toEqual(['get', 'patch']);
    await h.clock.advance(500);
    expect(await flushed).toEqual({ held: [] });
  });

  it('keeps a static pod’s status when its mirror pod was recreated and the pod manager has not seen that', async () => {
    const h = new Harness();
    const pod = testPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } });
    const mirror = (uid: string) => testPod({ metadata: { uid, annotations: { 'kubernetes.io/config.mirror': 'x' } } });
    h.podManager.addPod(pod);
    const old = h.publish(mirror('mirror-1'));
    expect(await h.set(pod, { message: 'first' })).toEqual(['patch']);
    h.client.store.put(mirror('mirror-2'));
    expect(await h.set(pod, { message: 'second' })).toEqual(['patch', 'get']);
    expect(h.manager.getPodStatus('12345678')?.message).toBe('second');
    expect(h.apiStatus(pod).message).toBeUndefined();
    h.podManager.removePod(old);
    h.observe(pod);
    expect(await h.batch()).toEqual(['patch']);
    expect(h.apiStatus(pod).message).toBe('second');
  });

  it('does not count a static pod as settled before its new mirror pod is written', async () => {
    const h = new Harness();
    const pod = testPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } });
    const mirror = (uid: string) => testPod({ metadata: { uid, annotations: { 'kubernetes.io/config.mirror': 'x' } } });
    h.podManager.addPod(pod);
    const old = h.publish(mirror('mirror-1'));
    h.client.store.remove('new', 'foo');
    expect(await h.set(pod, { message: 'm' })).toEqual(['patch']);
    expect(await h.manager.flush()).toEqual({ held: [{ podUID: '12345678', phase: 'gone' }] });
    h.podManager.removePod(old);
    h.publish(mirror('mirror-2'));
    const written = h.manager.flush().then(() => h.apiStatus(pod).message);
    await h.clock.advance(10_000);
    expect(await written).toBe('m');
  });

  it('repairs a foreign write to a pod held by finalizers, made just before the DELETE and seen after it', async () => {
    const h = new Harness();
    h.safety.reclaimed = true;
    const metadata = { ...deleting, deletionGracePeriodSeconds: 0, finalizers: ['example.com/hold'] };
    const pod = h.publish(testPod({ metadata, status: { phase: 'Failed', message: 'ours' } }));
    h.client.hold('delete');
    h.manager.setPodStatus(pod, { phase: 'Failed', message: 'ours' });
    h.manager.terminatePod(pod);
    await settle();
    h.rival(pod, { message: 'theirs' });
    h.client.release('delete');
    expect((await h.calls()).at(-1)).toBe('delete');
    h.observe(pod);
    expect(await h.batch()).toContain('patch');
    expect(h.apiStatus(pod).message).toBe('ours');
    h.observe(pod);
    expect(await h.batch()).toEqual([]);
  });

  it('sends only one DELETE for an ended pod held by finalizers whose agent still sets Ready True', async () => {
    const h = new Harness();
    h.safety.reclaimed = true;
    const metadata = { ...deleting, deletionGracePeriodSeconds: 0, finalizers: ['example.com/hold'] };
    const pod = h.publish(testPod({ metadata }));
    await h.set(pod, { phase: 'Failed', conditions: [{ type: 'Ready', status: 'True' }] });
    h.manager.terminatePod(pod);
    expect((await h.calls()).at(-1)).toBe('delete');
    h.observe(pod);
    expect(await h.batch()).toEqual([]);
    expect(h.manager.explain('12345678').phase).toBe('deleting');
  });

  it.each([
    'when-unknown',
    'always',
  ] as const)('sends nothing for a shared condition that only other controllers set (%s)', async (fetchBeforePatch) => {
    const h = new Harness({ fetchBeforePatch });
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Running', message: 'm' });
    h.rival(pod, { conditions: [{ type: 'DisruptionTarget', status: 'True' }] });
    h.observe(pod);
    expect(await h.batch()).toEqual([]);
    expect(h.manager.explain('12345678').phase).toBe('in-sync');
  });
});
