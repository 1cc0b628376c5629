import { afterEach, describe, expect, it } from 'vitest';
import { BoundedChannel } from '../../../../src/concurrency/bounded-channel.ts';
import { deleting, Harness, numberedPod, testPod } from '../harness.ts';

const { trySend } = BoundedChannel.prototype;

function loseHints(): void {
  BoundedChannel.prototype.trySend = () => false;
}

afterEach(() => {
  BoundedChannel.prototype.trySend = trySend;
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
