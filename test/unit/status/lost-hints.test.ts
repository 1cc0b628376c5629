import { describe, expect, it } from 'vitest';
import { BoundedChannel } from '../../../src/concurrency/bounded-channel.ts';
import { Harness, numberedPod } from './harness.ts';

describe('a channel that loses every hint', () => {
  it('only delays: the next batch writes everything', async () => {
    const h = new Harness();
    const pods = [1, 2, 3].map((n) => h.publish(numberedPod(n)));
    const trySend = BoundedChannel.prototype.trySend;
    BoundedChannel.prototype.trySend = () => false;
    try {
      for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
      expect(await h.calls()).toEqual([]);
      expect(h.manager.explain('uid-1').phase).toBe('pending');
      expect(await h.batch()).toEqual(['patch', 'patch', 'patch']);
    } finally {
      BoundedChannel.prototype.trySend = trySend;
    }
    expect(pods.map((pod) => h.apiStatus(pod).message)).toEqual(['m', 'm', 'm']);
  });
});
