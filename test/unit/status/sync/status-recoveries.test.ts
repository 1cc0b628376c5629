import { describe, expect, it } from 'vitest';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { Harness, numberedPod, testPod } from '../status-harness.ts';

const again = 'a pod is brought up to date again';
const failed = 'a pod could not be brought up to date';

function setUp() {
  const log = recordedLines();
  return { ...log, h: new Harness({ logger: log.logger }) };
}

describe('a pod whose status is written again', () => {
  it('has one line, with the failures before it', async () => {
    const { h, saying } = setUp();
    h.client.failNext('patch', { code: 403, reason: 'Forbidden', times: 2 });
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Running' });
    const since = h.clock.now();
    await h.clock.advance(60_000);
    expect(saying(failed)).toHaveLength(2);
    const [line, ...others] = saying(again);
    expect([line, others]).toEqual([
      {
        level: 'info',
        message: again,
        fields: { podUID: '12345678', podNamespace: 'new', podName: 'foo', attempt: 2, failingForMs: expect.any(Number) },
      },
      [],
    ]);
    const { failingForMs } = line?.fields as { failingForMs: number };
    expect(failingForMs).toBeGreaterThan(0);
    expect(failingForMs).toBeLessThanOrEqual(h.clock.now() - since);
    await h.set(pod, { phase: 'Running', message: 'more' });
    expect(saying(again)).toHaveLength(1);
  });

  it('has none where nothing had failed, nor where the pod is gone', async () => {
    const { h, saying } = setUp();
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Pending' });
    h.client.failNext('patch', { code: 503 });
    h.client.failNext('patch', { code: 404, reason: 'NotFound' });
    await h.set(pod, { phase: 'Running' });
    await h.clock.advance(10_000);
    expect(h.manager.explain('12345678').phase).toBe('gone');
    expect([saying(failed).length, saying(again)]).toEqual([1, []]);
  });

  it('has one line for many others, when an outage ends', async () => {
    const { h, saying } = setUp();
    const count = 100;
    h.client.failNext('patch', { code: 503, times: count });
    for (let number = 0; number < count; number += 1)
      h.manager.setPodStatus(h.publish(numberedPod(number)), { phase: 'Running' });
    await h.clock.advance(0);
    expect(saying(failed)).toHaveLength(count);
    await h.clock.advance(60_000);
    expect(saying(again)).toHaveLength(20);
    expect(saying('further pods are well again, which have no line of their own')).toMatchObject([{ fields: { pods: 80 } }]);
    await h.manager.stop();
    expect(h.clock.pendingTimers).toBe(0);
  });
});
