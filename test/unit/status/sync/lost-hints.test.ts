import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BoundedChannel } from '../../../../src/base/concurrency/bounded-channel.ts';
import { deleting, Harness, numberedPod, settle, testPod } from '../status-harness.ts';

const { trySend } = BoundedChannel.prototype;

function loseHints(): void {
  BoundedChannel.prototype.trySend = () => false;
}

afterEach(() => {
  BoundedChannel.prototype.trySend = trySend;
});

describe('very many hints', () => {
  it.each([
    ['that all fit into the channel', 1_000],
    ['that were all dropped', 0],
  ])('%s: a few hundred pods are looked at in one turn of the event loop', async (_, channelCapacity) => {
    const h = new Harness({ channelCapacity, subscribed: false });
    const pods = Array.from({ length: 1_000 }, (_, n) => h.publish(numberedPod(n)));
    h.client.hold();
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
    const asked = new Set<string>();
    const getPodByUID = vi.spyOn(h.podManager, 'getPodByUID').mockImplementation((uid) => {
      asked.add(uid);
      return pods.find(({ metadata }) => metadata.uid === uid);
    });
    const counts: number[] = [];
    for (let turn = 0; turn < 10; turn += 1) {
      await nextTurn();
      counts.push(asked.size);
      asked.clear();
    }
    getPodByUID.mockRestore();
    expect(Math.max(...counts)).toBeLessThanOrEqual(200 + 16);
    h.client.release();
    await settle(20);
    expect(pods.every((pod) => h.apiStatus(pod).message === 'm')).toBe(true);
  });
});

describe('a channel that loses every hint', () => {
  it('causes only delay: the next batch writes everything', async () => {
    const h = new Harness({ subscribed: false });
    const pods = [1, 2, 3].map((n) => h.publish(numberedPod(n)));
    loseHints();
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
    expect(await h.calls()).toEqual([]);
    expect(h.manager.explain('uid-1').phase).toBe('pending');
    expect(await h.batch()).toEqual(['patch', 'patch', 'patch']);
    expect(pods.map((pod) => h.apiStatus(pod).message)).toEqual(['m', 'm', 'm']);
  });

  it.each([
    ['quarantined', { code: 422, times: 2 }],
    ['gone', { code: 404 }],
    ['backing-off', { code: 500, retryAfterMs: 60_000 }],
  ])('writes a newer version of a pod that is %s with the next batch', async (phase, failure) => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.client.failNext('patch', failure);
    await h.set(pod, { message: 'old' });
    expect(h.manager.explain('12345678').phase).toBe(phase);
    loseHints();
    h.client.clearActions();
    expect(await h.set(pod, { message: 'new' })).toEqual([]);
    expect(await h.batch()).toContain('patch');
    expect(h.apiStatus(pod).message).toBe('new');
  });

  it('writes a newer version of a pod held by finalizers, even while that pod is read', async () => {
    const h = new Harness({ podSource: { lastObservedAt: () => 0 }, staleAfterMs: 1 });
    h.safety.reclaimed = true;
    const pod = h.publish(testPod({ metadata: { ...deleting, finalizers: ['example.com/hold'] } }));
    h.manager.setPodStatus(pod, { phase: 'Failed' });
    h.manager.terminatePod(pod);
    await h.calls();
    loseHints();
    h.manager.setPodStatus(pod, { phase: 'Failed', message: 'new' });
    expect(await h.batch()).toContain('patch');
    expect(h.apiStatus(pod).message).toBe('new');
  });
});
