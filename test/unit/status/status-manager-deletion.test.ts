import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/api/json/types.ts';
import { asUpstream, deleting, Harness, testPod } from './status-harness.ts';

const deletingPod = (metadata = {}) => testPod({ metadata: { ...deleting, ...metadata } });
const mirrorAnnotations = { 'kubernetes.io/config.mirror': 'x', 'kubernetes.io/config.source': 'api' };
const exists = (h: Harness): boolean => h.client.store.list().length > 0;

/** All conditions for a DELETE hold, except those that a test takes away. */
function reclaimed(options = {}): Harness {
  const h = new Harness({ terminateWhenReclaimed: false, ...options });
  h.safety.reclaimed = true;
  return h;
}

describe('StatusManager, deletion', () => {
  it.each([
    ['as upstream', asUpstream, ['get', 'patch']],
    ['by default', {}, ['patch']],
  ] as const)('does not delete a pod before it is finished, %s [T-SM-072]', async (_way, options, calls) => {
    const h = reclaimed(options);
    const pod = h.publish(deletingPod());
    expect(await h.set(pod, { phase: 'Failed' })).toEqual(calls);
    expect(exists(h)).toBe(true);
  });

  it.each([
    ['as upstream', asUpstream, ['get', 'patch', 'delete']],
    ['by default', {}, ['patch', 'delete']],
  ] as const)('deletes a finished pod, %s [T-SM-073]', async (_way, options, calls) => {
    const h = reclaimed(options);
    const pod = h.publish(deletingPod());
    h.manager.terminatePod(pod);
    await h.clock.advance(0);
    expect(h.client.actions.at(-1)).toMatchObject({ verb: 'delete', uid: '12345678', gracePeriodSeconds: 0 });
    expect(await h.calls()).toEqual(calls);
    expect(exists(h)).toBe(false);
    expect(h.manager.getPodStatus('12345678')).toBeUndefined();
  });

  it('deletes a reclaimed pod whose agent never calls terminatePod [T-SM-075]', async () => {
    const h = reclaimed({ fetchBeforePatch: 'always', terminateWhenReclaimed: true });
    const pod = h.publish(deletingPod());
    expect(await h.set(pod, { phase: 'Succeeded' })).toEqual(['get', 'patch', 'get', 'delete']);
    expect(exists(h)).toBe(false);
  });

  it.each([
    ['without a deletionTimestamp', {}, {}],
    ['as long as its resources are not reclaimed', { reclaimed: false }, deleting],
    ['as long as its containers could run', { running: true }, deleting],
    ['that is a mirror pod', {}, { ...deleting, annotations: mirrorAnnotations }],
  ])('does not delete a pod %s', async (_which, safety, metadata) => {
    const h = reclaimed();
    Object.assign(h.safety, safety);
    h.manager.terminatePod(h.publish(testPod({ metadata })));
    expect(await h.calls()).not.toContain('delete');
    expect(await h.batch()).not.toContain('delete');
    expect(exists(h)).toBe(true);
  });

  it('asks the deletion safety with name and uid for a pod that the pod manager has forgotten', async () => {
    const asked: WirePod[] = [];
    const podDeletionSafety = {
      podCouldHaveRunningContainers: (pod: WirePod) => asked.push(pod) === 0,
      podResourcesAreReclaimed: () => false,
    };
    const h = new Harness({ podDeletionSafety, subscribed: false });
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Running' });
    h.podManager.removePod(pod);
    await h.set(pod, { phase: 'Failed' });
    expect(asked).toEqual([{ metadata: { uid: '12345678', name: 'foo', namespace: 'new' } }]);
    expect(h.apiStatus(pod).phase).toBe('Failed');
  });

  it('gives the ended Ready condition the pod’s generation', async () => {
    const h = new Harness();
    const pod = h.publish(testPod({ metadata: { generation: 4 } }));
    await h.set(pod, { phase: 'Failed', conditions: [{ type: 'Ready', status: 'True' }] });
    const ready = h.apiStatus(pod).conditions?.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({ status: 'False', reason: 'PodFailed', observedGeneration: 4 });
  });

  it('needs a terminal phase on the apiserver, not only in the cache', async () => {
    const h = reclaimed();
    h.safety.running = true;
    const pod = h.publish(deletingPod());
    h.manager.terminatePod(pod);
    await h.calls();
    expect(h.apiStatus(pod).phase).toBeUndefined();
    h.rival(pod, { phase: 'Failed' });
    h.observe(pod);
    expect(await h.batch()).toContain('delete');
  });

  it('deletes at a later batch, when the resources are reclaimed', async () => {
    const h = reclaimed();
    h.safety.reclaimed = false;
    const pod = h.publish(deletingPod());
    h.manager.terminatePod(pod);
    expect(await h.calls()).toEqual(['patch']);
    expect(await h.batch()).toEqual([]);
    h.safety.reclaimed = true;
    expect(await h.batch()).toEqual(['delete']);
    expect(exists(h)).toBe(false);
  });

  it('asks the deletion safety again after a wait for the rate limiter', async () => {
    const h = new Harness({ rateLimiter: { qps: 1, burst: 1 } });
    h.safety.reclaimed = true;
    const pod = h.publish(deletingPod());
    h.manager.terminatePod(pod);
    expect(await h.calls()).toEqual(['patch']);
    h.safety.reclaimed = false;
    await h.clock.advance(5_000);
    expect([await h.calls(), exists(h)]).toEqual([[], true]);
    h.safety.reclaimed = true;
    expect(await h.batch()).toEqual(['delete']);
  });

  it('deletes at a batch that first sees the deletionTimestamp', async () => {
    const h = reclaimed();
    const pod = h.publish(testPod());
    h.manager.terminatePod(pod);
    expect(await h.calls()).toEqual(['patch']);
    const current = h.api(pod);
    h.client.store.put({ ...current, metadata: { ...current.metadata, ...deleting } });
    h.observe(pod);
    expect(await h.batch()).toEqual(['delete']);
  });

  it.each([500, 429, undefined])('retries a failed DELETE (%s), without another PATCH', async (code) => {
    const h = reclaimed();
    const pod = h.publish(deletingPod());
    h.client.failNext('delete', code === undefined ? { reason: 'Network' } : { code });
    h.manager.terminatePod(pod);
    expect(await h.calls()).toEqual(['patch', 'delete']);
    await h.clock.advance(500);
    expect(await h.calls()).toEqual(['delete']);
    expect(exists(h)).toBe(false);
    expect(h.manager.getPodStatus('12345678')).toBeUndefined();
  });

  it('waits longer after each failed DELETE', async () => {
    const h = reclaimed();
    const pod = h.publish(deletingPod());
    const errors = h.record('syncError');
    h.client.failNext('delete', { code: 500, times: 3 });
    h.manager.terminatePod(pod);
    await h.clock.advance(5_000);
    expect(errors.map(({ retryInMs, attempt }) => [attempt, retryInMs])).toEqual([
      [1, 500],
      [2, 1_000],
      [3, 2_000],
    ]);
    expect(exists(h)).toBe(false);
  });

  it('counts a pod that was deleted meanwhile as deleted', async () => {
    const h = reclaimed();
    const pod = h.publish(deletingPod());
    h.client.hold('delete');
    h.manager.terminatePod(pod);
    await h.clock.advance(0);
    h.client.store.remove('new', 'foo');
    h.client.release();
    expect(await h.calls()).toEqual(['patch', 'delete']);
    expect(h.manager.getPodStatus('12345678')).toBeUndefined();
  });

  it('does not delete the next pod of the same name', async () => {
    const h = reclaimed();
    const pod = h.publish(deletingPod());
    h.client.hold('delete');
    h.manager.terminatePod(pod);
    await h.clock.advance(0);
    h.client.store.put(testPod({ metadata: { uid: 'next' } }));
    h.client.release();
    expect(await h.calls()).toEqual(['patch', 'delete', 'get']);
    expect(h.api(pod).metadata?.uid).toBe('next');
    expect(h.manager.getPodStatus('12345678')).toBeUndefined();
  });

  it('explains a pod held by finalizers as deleting, not gone, and sends one DELETE', async () => {
    const h = reclaimed();
    const pod = h.publish(deletingPod({ finalizers: ['example.com/hold'] }));
    h.manager.terminatePod(pod);
    expect(await h.calls()).toEqual(['patch', 'delete']);
    expect(h.manager.explain('12345678').phase).toBe('deleting');
    await expect(h.manager.flush()).resolves.toEqual({ held: [{ podUID: '12345678', phase: 'deleting' }] });
    h.observe(pod);
    expect(await h.batch()).toEqual([]);
    expect(await h.batch()).toEqual([]);
    expect(h.manager.getPodStatus('12345678')).toBeDefined();
  });

  it('deletes again when a pod held by finalizers has changed', async () => {
    const h = reclaimed();
    const pod = h.publish(deletingPod({ finalizers: ['example.com/hold'] }));
    h.manager.terminatePod(pod);
    await h.calls();
    const { finalizers: _, ...metadata } = h.api(pod).metadata ?? {};
    h.client.store.put({ ...h.api(pod), metadata });
    h.observe(pod);
    expect(await h.batch()).toEqual(['delete']);
    expect(exists(h)).toBe(false);
  });

  it('is not deleting, but unwritten, with a status newer than the one before its DELETE: stop names the pod', async () => {
    const h = reclaimed();
    const pod = h.publish(deletingPod({ finalizers: ['example.com/hold'] }));
    h.manager.terminatePod(pod);
    await h.calls();
    h.manager.setPodStatus(pod, { phase: 'Failed', message: 'newer' });
    expect(h.manager.explain('12345678').phase).toBe('pending');
    expect(await h.manager.stop({ drainTimeoutMs: 0 })).toMatchObject({ pods: [{ podUID: '12345678', phase: 'pending' }] });
  });

  it('tells of the written status once, however often the DELETE is tried again', async () => {
    const durations: number[] = [];
    const observe = (name: string, value: number): void => {
      if (name === 'kubelet_pod_status_sync_duration_seconds') durations.push(value);
    };
    const h = reclaimed({ metrics: { increment: () => {}, set: () => {}, observe } });
    const synced = h.record('synced');
    const pod = h.publish(deletingPod());
    h.client.failNext('delete', { code: 500, times: 5 });
    h.manager.terminatePod(pod);
    await h.clock.advance(60_000);
    expect(h.client.verbs()).toEqual(['patch', ...Array(6).fill('delete')]);
    expect([synced.length, durations]).toEqual([1, [0]]);
  });

  it('deletes again when etcd was restored from a backup in which the pod is not deleted yet', async () => {
    let listedAt: number | undefined;
    const h = reclaimed({ podSource: { lastObservedAt: () => undefined, lastListedAt: () => listedAt } });
    const pod = h.publish(deletingPod({ finalizers: ['example.com/hold'] }));
    h.manager.terminatePod(pod);
    await h.calls();
    const { metadata, ...rest } = h.api(pod);
    const restored = { ...rest, metadata: { ...metadata, resourceVersion: '0' } } as WirePod;
    h.podManager.replacePod(restored);
    expect(await h.batch()).toEqual([]);
    listedAt = h.clock.now();
    expect(await h.batch()).toEqual(['delete']);
  });

  it('takes the careful answer when a deletion safety throws', async () => {
    const h = reclaimed({
      podDeletionSafety: {
        podCouldHaveRunningContainers: () => {
          throw new Error('no idea');
        },
        podResourcesAreReclaimed: () => true,
      },
    });
    const pod = h.publish(deletingPod({}));
    h.manager.setPodStatus(pod, { phase: 'Running' });
    h.manager.terminatePod(pod);
    expect(await h.calls()).toEqual(['patch']);
    expect(h.apiStatus(pod).phase).toBeUndefined();
    expect(h.manager.explain('12345678').phase).toBe('terminal-phase-held-back');
  });

  it('holds a terminal phase back while containers could run, and sends the other members', async () => {
    const h = new Harness();
    h.safety.running = true;
    const pod = h.publish(testPod({ status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }));
    await h.set(pod, { phase: 'Failed', reason: 'Evicted', message: 'gone', podIP: '10.0.0.1' });
    expect(h.apiStatus(pod)).toMatchObject({ phase: 'Running', podIP: '10.0.0.1' });
    expect(h.apiStatus(pod).reason).toBeUndefined();
    expect(h.manager.explain('12345678').phase).toBe('terminal-phase-held-back');
    await expect(h.manager.flush()).resolves.toEqual({ held: [{ podUID: '12345678', phase: 'terminal-phase-held-back' }] });
    expect(await h.batch()).toEqual([]);
    h.safety.running = false;
    expect(await h.batch()).toEqual(['patch']);
    expect(h.apiStatus(pod)).toMatchObject({ phase: 'Failed', reason: 'Evicted', message: 'gone' });
    expect(h.manager.explain('12345678').phase).toBe('in-sync');
    await expect(h.manager.flush()).resolves.toEqual({ held: [] });
  });
});
